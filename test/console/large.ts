import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { newPlace } from '../harness/daemon.ts';
import type { Place } from '../harness/daemon.ts';

const root = join(import.meta.dirname, '../..');

/** A home with a week of six agents, made through a real gate, as `npm run demo` makes it. */
export async function makeWeek(calls: number, pending: number): Promise<Place> {
  const { folder } = newPlace();
  const week = join(folder, 'week');
  const args = ['--make-only', '--folder', week, '--calls', String(calls), '--pending', String(pending)];
  const child = spawn(
    process.execPath,
    ['--import', join(root, 'scripts/demo/clock.ts'), join(root, 'scripts/demo.ts'), ...args],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`the week could not be made: ${code}`);
  return { folder, home: join(week, 'home'), workspace: join(week, 'harbour') };
}

export interface LargeFigures {
  /** From the address to the first row that can be read. */
  readonly firstRowMs: number;
  /** How many rows the page had drawn at most, however far it was scrolled. */
  readonly mostRows: number;
  /** Of the frames while it was scrolled. */
  readonly longestFrameMs: number;
  readonly heapMegabytes: number;
}

/** Opens a place with a long list, scrolls through it, and says what that took. */
export async function measureList(page: Page, place: string, row: string): Promise<LargeFigures> {
  await page.evaluate(`location.hash = '#/nowhere'`);
  await page.getByRole('heading', { name: 'This address leads nowhere' }).waitFor();
  const startedAt = performance.now();
  await page.evaluate(`location.hash = ${JSON.stringify(`#/${place}`)}`);
  await page.locator(row).first().waitFor();
  const firstRowMs = performance.now() - startedAt;
  const { mostRows, longestFrameMs } = await page.evaluate<{ mostRows: number; longestFrameMs: number }>(
    `(${scrollThrough.toString()})(${JSON.stringify(row)})`,
  );
  const heap = await page.evaluate<number>('performance.memory?.usedJSHeapSize ?? 0');
  return { firstRowMs, mostRows, longestFrameMs, heapMegabytes: heap / 1024 / 1024 };
}

declare const document: {
  querySelector(selector: string): { closest(selector: string): { scrollTop: number } | null } | null;
  querySelectorAll(selector: string): { readonly length: number };
};
declare const requestAnimationFrame: (run: () => void) => void;

/** Runs in the page. */
async function scrollThrough(row: string): Promise<{ mostRows: number; longestFrameMs: number }> {
  const scroller = document.querySelector(row)?.closest('[data-scroller], .page');
  let mostRows = 0;
  let longestFrameMs = 0;
  let last = performance.now();
  for (let frame = 0; frame < 120; frame++) {
    if (scroller) scroller.scrollTop += 240;
    await new Promise<void>((resolve) => requestAnimationFrame(resolve));
    const now = performance.now();
    longestFrameMs = Math.max(longestFrameMs, now - last);
    last = now;
    mostRows = Math.max(mostRows, document.querySelectorAll(row).length);
  }
  return { mostRows, longestFrameMs };
}
