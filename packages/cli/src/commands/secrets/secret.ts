import type { InJson, SecretList } from '@sallyport/contract';
import { command, word } from '../../command-table.ts';
import { operatorCommand, runOperatorTool } from '../../client/run-tool.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { readSecretValue } from './read-secret-value.ts';
import { printTable } from '../../terminal/table.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

export const secretCommands = [
  command('set', {
    help: 'store a secret; its value is asked for, or read from a pipe',
    arguments: { name: word('name') },
    run: async ({ name }, context) => {
      // Before a value is asked for that could not be sent.
      context.openOperatorClient();
      const value = await readSecretValue(`Value of ${makeVisibleLine(name)} (not shown): `, context.terminal);
      return runOperatorTool('secrets.set', { name, value }, context, () =>
        context.terminal.print(`The secret ${makeVisibleLine(name)} is set. Tools get it where a rule grants it.`),
      );
    },
  }),
  operatorCommand('list', {
    help: 'list the stored secrets, without their values',
    tool: 'secrets.list',
    print: ({ secrets }: InJson<SecretList>, { terminal, commandName }) => {
      if (secrets.length === 0) return terminal.print(`No secret is stored. Store one: ${commandName} secret set NAME`);
      const rows = secrets.map(({ name, updatedAtMs, readable }) => [
        name,
        formatTime(Number(updatedAtMs)),
        readable ? '' : 'cannot be decrypted; set it again',
      ]);
      printTable(terminal, ['SECRET', 'SET', ''], rows);
    },
  }),
  operatorCommand('remove', {
    help: 'remove a secret for good',
    arguments: { name: word('name') },
    tool: 'secrets.remove',
    print: (_, { terminal }, { name }) => terminal.print(`The secret ${makeVisibleLine(name)} was removed.`),
  }),
];
