import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

const levels = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/**
 * What axe finds on the page as it is now, against WCAG 2.2 A and AA or against some rules only. One line each; none
 * means none was found.
 */
export async function findBarriers(page: Page, rules?: readonly string[]): Promise<string[]> {
  const isLoaded = await page.evaluate<boolean>('globalThis.axe !== undefined');
  if (!isLoaded) await page.evaluate(axeSource);
  const runOnly = rules === undefined ? { type: 'tag', values: levels } : { type: 'rule', values: rules };
  const result = await page.evaluate<AxeResult>(
    `axe.run(document, ${JSON.stringify({ runOnly, resultTypes: ['violations'] })})`,
  );
  return result.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
  );
}
