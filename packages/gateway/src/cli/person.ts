import type { CommandContext } from './command-context.ts';
import { usageFailure } from './failure.ts';
import { formatTime } from './format-time.ts';
import { runOperatorTool } from './run-tool.ts';
import { renderTable } from './table.ts';
import { makeVisibleLine } from './visible-text.ts';

interface AddedPerson {
  readonly person_id: string;
  readonly name: string;
  readonly credential: string;
}

interface ListedPerson {
  readonly person_id: string;
  readonly name: string;
  readonly status: string;
  readonly added_at: string;
}

export function addPerson(name: string, context: CommandContext): Promise<number> {
  return runOperatorTool('people.add', { name }, context, ({ credential }: AddedPerson) => {
    const { paint, print } = context.terminal;
    print(
      `${paint('bold', makeVisibleLine(name))} may run the gate. The credential is shown this once:`,
      '',
      `  ${makeVisibleLine(credential)}`,
      '',
      'They keep it in a file that only they can read (chmod 600), and name the file:',
      `  SALLYPORT_CREDENTIAL_FILE=FILE ${context.commandName} status`,
    );
  });
}

export function listPeople(options: { readonly all?: boolean }, context: CommandContext): Promise<number> {
  return runOperatorTool(
    'people.list',
    { include_revoked: options.all ?? false },
    context,
    ({ people }: { readonly people: readonly ListedPerson[] }) => {
      const rows = people.map(({ person_id: id, name, status, added_at: addedAt }) =>
        [id, name, status, formatTime(Date.parse(addedAt))].map(makeVisibleLine),
      );
      const { columns, paint, print } = context.terminal;
      const [header = '', ...body] = renderTable([['PERSON', 'NAME', 'STATUS', 'ADDED'], ...rows], columns);
      print(paint('dim', header), ...body);
    },
  );
}

export function revokePerson(personId: string, context: CommandContext): Promise<number> {
  return runOperatorTool(
    'people.revoke',
    { person_id: personId },
    context,
    ({ revoked }: { readonly revoked: boolean }) => {
      if (!revoked) throw usageFailure('The credential was revoked before.', 'See `person list --all`.');
      context.terminal.print('The credential is revoked. It opens nothing any more.');
    },
  );
}
