import type { Command } from 'commander';
import type { Run } from '../../program.ts';

type Start = (command: Parameters<Run>[1]) => Promise<void>;

/** `secret` and `person`: what the gate is trusted with, and who may run it. */
export function addPeopleCommands(program: Command, start: Start): void {
  const secret = program.command('secret').description('keep secrets for tools; nothing shows them again');
  secret
    .command('set <name>')
    .description('store a secret; its value is asked for, or read from a pipe')
    .action((name: string) =>
      start(async (context) => (await import('../secrets/secret.ts')).setSecret(name, context)),
    );
  secret
    .command('list')
    .description('list the stored secrets, without their values')
    .action(() => start(async (context) => (await import('../secrets/secret.ts')).listSecrets(context)));
  secret
    .command('remove <name>')
    .description('remove a secret for good')
    .action((name: string) =>
      start(async (context) => (await import('../secrets/secret.ts')).removeSecret(name, context)),
    );

  const person = program
    .command('person')
    .description('manage the people who may run the gate, each with their own credential');
  person
    .command('add <name>')
    .description('let a person in and print their credential')
    .action((name: string) => start(async (context) => (await import('./person.ts')).addPerson(name, context)));
  person
    .command('list')
    .description('list the people')
    .option('--all', 'also list people whose credential was revoked')
    .action((options: { all?: boolean }) =>
      start(async (context) => (await import('./person.ts')).listPeople(options, context)),
    );
  person
    .command('revoke <person-id>')
    .description("revoke a person's credential for good")
    .action((id: string) => start(async (context) => (await import('./person.ts')).revokePerson(id, context)));
}
