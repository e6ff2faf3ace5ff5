import type { InJson, Json, PolicyTest } from '@sallyport/contract';
import { exitCodes } from '@sallyport/contract/codes';
import { readYaml, readSourceFile, entryOf, toJson } from '@sallyport/gateway';
import { flag, word } from '../../command-table.ts';
import { usageFailure } from '../../client/failure.ts';
import type { CommandFailure } from '../../client/failure.ts';
import { operatorCommand } from '../../client/run-tool.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

/** Cases that a project keeps beside its rules: each says what is expected of one call. */
export const testCommand = operatorCommand('test', {
  help: 'check a file of cases: which calls the rules should allow, ask about or deny',
  arguments: { file: word('file', { completes: 'files' }) },
  options: { files: flag('use the files as they are now, not the rules in force') },
  tool: 'policy.test',
  input: ({ file, files = false }) => ({ cases: readCases(file), rules: files ? 'files' : 'applied' }),
  print: ({ passed, failed, failures }: InJson<PolicyTest>, { terminal }) => {
    terminal.note(...failures.map(makeVisibleLine));
    terminal.print(`${passed} passed, ${failed} failed`);
  },
  exitCodeOf: ({ failed }) => (failed === 0 ? exitCodes.success : exitCodes.denied),
});

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
