import { hash, randomUUIDv7 } from 'node:crypto';
import { AddedPersonSchema, PeopleSchema, RevokedPersonSchema, spellCount } from '@sallyport/contract';
import type { InJson, Person } from '@sallyport/contract';
import type { Organisation } from '../../call/organisation.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { AnyTool } from '../../call/tool.ts';
import { firstOperator } from '../../call/session.ts';
import type { Session } from '../../call/session.ts';
import type { Store } from '../../storage/stores.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import { newToken } from '../../sessions/tools/sessions.ts';
import type { EndSession } from '../../sessions/tools/sessions.ts';
import * as schema from '../../registry/schemas/schema.ts';

type PeopleStore = Pick<Store, 'createSession' | 'readSession' | 'liveSessions' | 'listSessions' | 'readOrganisation'>;

export interface PeopleToolOptions {
  readonly workspace: string;
  readonly endSession: EndSession;
  /** Where another user of the machine reaches the gate. */
  readonly address: () => string;
}

/** Who may run the gate. Each person has their own credential, so that records have their name. */
export function peopleTools(store: PeopleStore, options: PeopleToolOptions): readonly AnyTool[] {
  return [addTool(store, options), listTool(store), revokeTool(store, options.endSession)];
}

function addTool(store: PeopleStore, { workspace, address }: PeopleToolOptions) {
  return defineOperatorTool({
    name: 'people.add',
    description: 'Lets another person run the gate and returns their credential, which is shown only this once.',
    mutates: true,
    properties: {
      name: schema.string('Name of the person, as records will show it.', {
        minLength: 1,
        maxLength: 128,
        pattern: '^[A-Za-z0-9._@-]+$',
      }),
    },
    required: ['name'],
    answers: AddedPersonSchema,
    preview: ({ name }) => {
      return { summary: `Let ${name} run the gate.`, detail: 'They may do what you may do.', undoable: true };
    },
    run: async ({ name }) => {
      const taken = activePeople(store).find((person) => person.agent.toLowerCase() === name.toLowerCase());
      if (taken !== undefined || name.toLowerCase() === firstOperator) {
        throw new ToolFailure('ALREADY_EXISTS', `There is already a person named ${name}. Choose another name.`);
      }
      if (holdsOffice(store.readOrganisation(), name)) {
        throw new ToolFailure(
          'ALREADY_EXISTS',
          `A former ${name} still has an office. Give it to somebody else first.`,
        );
      }
      const credential = newToken();
      const id = randomUUIDv7();
      await store.createSession({
        id,
        principal: 'operator',
        agent: name,
        tokenSha256: hash('sha256', credential),
        createdAtMs: Date.now(),
        workingDirectory: workspace,
        lease: { id: randomUUIDv7(), tools: ['*'] },
      });
      return { personId: id, name, credential, address: address() };
    },
    summarize: ({ name }, { personId }) => `added ${name} as ${personId}`,
  });
}

function listTool(store: PeopleStore) {
  return defineOperatorTool({
    name: 'people.list',
    description: 'Lists the people who may run the gate, without their credentials.',
    mutates: false,
    properties: {
      include_revoked: schema.flag('Also list people whose credential was revoked.'),
    },
    answers: PeopleSchema,
    run: async ({ include_revoked: includeRevoked }) => {
      const people = includeRevoked ? await allPeople(store) : activePeople(store);
      return { people: people.map(describePerson) };
    },
    summarize: (_args, { people }) => spellCount(people.length, 'person', 'people'),
  });
}

function revokeTool(store: PeopleStore, endSession: EndSession) {
  return defineOperatorTool({
    name: 'people.revoke',
    description: "Revokes a person's credential for good. The next call with it is refused.",
    mutates: true,
    idempotent: true,
    properties: { person_id: schema.id('As people.list shows it.') },
    required: ['person_id'],
    answers: RevokedPersonSchema,
    preview: async ({ person_id: id }) => {
      const person = await findPerson(store, id);
      const detail = 'Their credential stops working and cannot be restored.';
      return { summary: `Revoke the credential of ${person.agent} (${id}).`, detail };
    },
    run: async ({ person_id: id }, context) => {
      const person = await findPerson(store, id);
      if (person.agent === firstOperator) {
        throw new ToolFailure(
          'EXECUTION_ERROR',
          'The first operator cannot be revoked: the owner of the home folder holds that credential.',
        );
      }
      if (person.id === context.session.id) {
        throw new ToolFailure('EXECUTION_ERROR', 'You cannot revoke yourself. Ask another person to do it.');
      }
      const by = context.session.agent;
      const revoked = await endSession(id, by);
      for (const console of consolesOf(store, person.agent)) await endSession(console, by);
      return { personId: id, revoked };
    },
    summarize: ({ person_id: id }) => `revoked ${id}`,
  });
}

/** A person who gets the name of somebody who left must not get their office too. */
function holdsOffice({ teams, members }: Organisation, name: string): boolean {
  return (
    members.some((member) => (member.kind === 'person' && member.name === name) || member.senior === name) ||
    teams.some(({ senior }) => senior === name)
  );
}

/** The ids of the open ones. */
function consolesOf(store: PeopleStore, name: string): readonly string[] {
  const isOpen = ({ principal, door, agent, status }: Session): boolean =>
    principal === 'operator' && door !== undefined && agent === name && status === 'active';
  return store
    .liveSessions()
    .filter(isOpen)
    .map(({ id }) => id);
}

async function allPeople(store: PeopleStore): Promise<readonly Session[]> {
  return (await store.listSessions()).filter(isPerson);
}

function activePeople(store: PeopleStore): readonly Session[] {
  return store.liveSessions().filter((session) => isPerson(session) && session.status === 'active');
}

/** A console in a browser is bound to its door. It belongs to a person but is not one. */
function isPerson({ principal, door }: Session): boolean {
  return principal === 'operator' && door === undefined;
}

/** Refuses the id of an agent's session. */
async function findPerson(store: PeopleStore, id: string): Promise<Session> {
  const found = await store.readSession(id);
  if (found !== undefined && isPerson(found)) return found;
  throw new ToolFailure('NOT_FOUND', `There is no person ${id}.`, {
    forOperators: '`sallyport person list` shows them.',
  });
}

function describePerson({ id, agent, status, createdAtMs }: Session): InJson<Person> {
  const standing = status === 'active' ? 'active' : 'revoked';
  return { personId: id, name: agent, status: standing, addedAtMs: String(createdAtMs) };
}
