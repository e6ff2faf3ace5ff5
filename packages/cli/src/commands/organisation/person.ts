import type { AddedPerson, InJson, People, RevokedPerson } from '@sallyport/contract';
import { defaultPort } from '@sallyport/gateway';
import type { CommandContext } from '../../command-context.ts';
import { usageFailure } from '../../client/failure.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { runOperatorTool } from '../../client/run-tool.ts';
import { renderTable } from '../../terminal/table.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

export function addPerson(name: string, context: CommandContext): Promise<number> {
  return runOperatorTool('people.add', { name }, context, ({ credential, address }: InJson<AddedPerson>) => {
    const { paint, print } = context.terminal;
    print(
      `${paint('bold', makeVisibleLine(name))} may run the gate. The credential is shown this once:`,
      '',
      `  ${makeVisibleLine(credential)}`,
      '',
      'As their own user on this machine they run this, paste the credential, and',
      'press Enter and Ctrl-D:',
      ...keepCredential(makeVisibleLine(address)),
      '',
      'From then on they run every command under their own name:',
      `  ${ownCommand(context.commandName)} status`,
    );
  });
}

/** For a shell. The file is closed to others from its first moment on; what reads it comes last, or it would read the rest. */
function keepCredential(address: string): string[] {
  const isUsual = address === `http://127.0.0.1:${defaultPort}`;
  return [
    ...(isUsual ? [] : [`  export SALLYPORT_ADDRESS=${address}`]),
    '  (umask 077; mkdir -p ~/.sallyport/credentials',
    '  cat > ~/.sallyport/credentials/person)',
  ];
}

/** Without the home of who adds them, which is closed to them. */
function ownCommand(commandName: string): string {
  return /(?:npx )?sallyport$/.exec(commandName)?.[0] ?? 'sallyport';
}

export function listPeople(options: { readonly all?: boolean }, context: CommandContext): Promise<number> {
  return runOperatorTool(
    'people.list',
    { include_revoked: options.all ?? false },
    context,
    ({ people }: InJson<People>) => {
      const rows = people.map(({ personId, name, status, addedAtMs }) =>
        [personId, name, status, formatTime(Number(addedAtMs))].map(makeVisibleLine),
      );
      const { columns, paint, print } = context.terminal;
      const [header = '', ...body] = renderTable([['PERSON', 'NAME', 'STATUS', 'ADDED'], ...rows], columns);
      print(paint('dim', header), ...body);
    },
  );
}

export function revokePerson(personId: string, context: CommandContext): Promise<number> {
  return runOperatorTool('people.revoke', { person_id: personId }, context, ({ revoked }: InJson<RevokedPerson>) => {
    if (!revoked) throw usageFailure('The credential was revoked before.', 'See `person list --all`.');
    context.terminal.print('The credential is revoked and no longer works.');
  });
}
