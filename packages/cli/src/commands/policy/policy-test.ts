import type { InJson, Json, PolicyTest } from '@sallyport/contract';
import { exitCodes } from '@sallyport/contract/codes';
import { readYaml, readSourceFile, entryOf, toJson } from '@sallyport/gateway';
import type { CommandContext } from '../../command-context.ts';
import { usageFailure } from '../../client/failure.ts';
import type { CommandFailure } from '../../client/failure.ts';
import { runOperatorTool } from '../../client/run-tool.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

/** Cases that a project keeps beside its rules: each says what is expected of one call. */
export async function testPolicy(
  file: string,
  { files = false }: { readonly files?: boolean },
  context: CommandContext,
): Promise<number> {
  const input = { cases: readCases(file), rules: files ? 'files' : 'applied' };
  const show = ({ passed, failed, failures }: InJson<PolicyTest>): void => {
    context.terminal.note(...failures.map(makeVisibleLine));
    context.terminal.print(`${passed} passed, ${failed} failed`);
  };
  return runOperatorTool('policy.test', input, context, show, {
    exitCodeOf: ({ failed }) => (failed === 0 ? exitCodes.success : exitCodes.denied),
  });
}

function readCases(file: string): Json {
  const source = readSourceFile(file);
  const { root, problems } = readYaml(source);
  const [problem] = problems;
  if (problem !== undefined) throw unreadable(`line ${problem.line}, column ${problem.column}: ${problem.message}`);
  if (source.bytes === undefined) throw unreadable(`${file} does not exist`);
  const cases = root?.kind === 'map' ? entryOf(root, 'cases') : undefined;
  if (cases?.kind !== 'list') throw unreadable('there is no list under "cases"');
  return toJson(cases);
}

function unreadable(why: string): CommandFailure {
  return usageFailure(`The cases cannot be read: ${why}`, 'See docs/rules.md for their form.');
}
