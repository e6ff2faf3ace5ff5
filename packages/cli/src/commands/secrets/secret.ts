import type { InJson, SecretList } from '@sallyport/contract';
import type { CommandContext } from '../../command-context.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { readSecretValue } from './read-secret-value.ts';
import { runOperatorTool } from '../../client/run-tool.ts';
import { renderTable } from '../../terminal/table.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

export async function setSecret(name: string, context: CommandContext): Promise<number> {
  // Before a value is asked for that could not be sent.
  context.openOperatorClient();
  const value = await readSecretValue(`Value of ${makeVisibleLine(name)} (not shown): `, context.terminal);
  return runOperatorTool('secrets.set', { name, value }, context, () => {
    context.terminal.print(`The secret ${makeVisibleLine(name)} is set. Tools get it where a rule grants it.`);
  });
}

export function listSecrets(context: CommandContext): Promise<number> {
  return runOperatorTool('secrets.list', {}, context, ({ secrets }: InJson<SecretList>) => {
    const { columns, paint, print } = context.terminal;
    if (secrets.length === 0) {
      print(`No secret is stored. Store one: ${context.commandName} secret set NAME`);
      return;
    }
    const rows = secrets.map(({ name, updatedAtMs, readable }) => [
      makeVisibleLine(name),
      formatTime(Number(updatedAtMs)),
      readable ? '' : 'cannot be decrypted; set it again',
    ]);
    const [header = '', ...body] = renderTable([['SECRET', 'SET', ''], ...rows], columns);
    print(paint('dim', header.trimEnd()), ...body);
  });
}

export function removeSecret(name: string, context: CommandContext): Promise<number> {
  return runOperatorTool('secrets.remove', { name }, context, () => {
    context.terminal.print(`The secret ${makeVisibleLine(name)} was removed.`);
  });
}
