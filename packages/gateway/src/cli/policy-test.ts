import { readFileSync } from 'node:fs';
import { exitCodes } from '@sallyport/contract/codes';
import type { CommandContext } from './command-context.ts';
import { describeError, usageFailure } from './failure.ts';
import { runOperatorTool } from './run-tool.ts';
import { makeVisibleLine } from './visible-text.ts';

interface Tested {
  readonly passed: number;
  readonly failed: number;
  readonly failures: readonly string[];
}

/** Cases that a project keeps beside its rules: each says what is expected of one call. */
export async function testPolicy(
  file: string,
  { files = false }: { readonly files?: boolean },
  context: CommandContext,
): Promise<number> {
  const input = { cases: await readCases(file), rules: files ? 'files' : 'applied' };
  const show = ({ passed, failed, failures }: Tested): void => {
    context.terminal.note(...failures.map(makeVisibleLine));
    context.terminal.print(`${passed} passed, ${failed} failed`);
  };
  return runOperatorTool('policy.test', input, context, show, ({ failed }) =>
    failed === 0 ? exitCodes.success : exitCodes.denied,
  );
}

async function readCases(file: string): Promise<readonly unknown[]> {
  const { parse } = await import('yaml');
  try {
    const { cases } = parse(readFileSync(file, 'utf8')) as { readonly cases?: unknown };
    if (!Array.isArray(cases)) throw new Error('there is no list under "cases"');
    return cases as readonly unknown[];
  } catch (error) {
    throw usageFailure(`The cases cannot be read: ${describeError(error)}`, 'See docs/rules.md for their form.');
  }
}
