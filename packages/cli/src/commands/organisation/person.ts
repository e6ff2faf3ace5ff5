import type { AddedPerson, InJson, People, RevokedPerson } from '@sallyport/contract';
import { defaultPort } from '@sallyport/gateway';
import { flag, word } from '../../command-table.ts';
import { usageFailure } from '../../client/failure.ts';
import { operatorCommand } from '../../client/run-tool.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { printTable } from '../../terminal/table.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

export const personCommands = [
  operatorCommand('add', {
    help: 'let a person in and print their credential',
    arguments: { name: word('name') },
    tool: 'people.add',
    print: ({ credential, address }: InJson<AddedPerson>, { terminal, commandName }, { name }) =>
      terminal.print(
        `${terminal.paint('bold', makeVisibleLine(name))} may run the gate. The credential is shown this once:`,
        '',
        `  ${makeVisibleLine(credential)}`,
        '',
        'As their own user on this machine they run this, paste the credential, and',
        'press Enter and Ctrl-D:',
        ...keepCredential(makeVisibleLine(address)),
        '',
        'From then on they run every command under their own name:',
        `  ${ownCommand(commandName)} status`,
      ),
  }),
  operatorCommand('list', {
    help: 'list the people',
    options: { all: flag('also list people whose credential was revoked') },
    tool: 'people.list',
    input: ({ all = false }) => ({ include_revoked: all }),
    print: ({ people }: InJson<People>, { terminal }) => {
      const rows = people.map(({ personId, name, status, addedAtMs }) => [
        ...[personId, name, status],
        formatTime(Number(addedAtMs)),
      ]);
      printTable(terminal, ['PERSON', 'NAME', 'STATUS', 'ADDED'], rows);
    },
  }),
  operatorCommand('revoke', {
    help: "revoke a person's credential for good",
    arguments: { personId: word('person-id') },
    tool: 'people.revoke',
    print: ({ revoked }: InJson<RevokedPerson>, { terminal }) => {
      if (!revoked) throw usageFailure('The credential was revoked before.', 'See `person list --all`.');
      terminal.print('The credential is revoked and no longer works.');
    },
  }),
];

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
