import { hash, randomUUIDv7 } from 'node:crypto';
import type { Organisation } from '../../call/organisation.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { AnyTool, Tool } from '../../call/tool.ts';
import { firstOperator } from '../../call/session.ts';
import type { Session } from '../../call/session.ts';
import type { Store } from '../../storage/stores.ts';
import { defineAdministration } from '../../registry/administration.ts';
import { newToken } from '../../sessions/tools/sessions.ts';
import type { EndSession } from '../../sessions/tools/sessions.ts';

type PeopleStore = Pick<Store, 'createSession' | 'readSession' | 'liveSessions' | 'listSessions' | 'readOrganisation'>;

export interface PeopleToolOptions {
  readonly workspace: string;
  readonly endSession: EndSession;
  /** Where another user of the machine reaches the gate. */
  readonly address: () => string;
}

/** Who may run the gate. Each person has a credential of their own, so that records carry their own name. */
export function peopleTools(store: PeopleStore, options: PeopleToolOptions): readonly AnyTool[] {
  return [addTool(store, options), listTool(store), revokeTool(store, options.endSession)] as unknown as AnyTool[];
}

function addTool(store: PeopleStore, { workspace, address }: PeopleToolOptions): Tool<{ readonly name: string }> {
  return {
    definition: defineAdministration({
      name: 'people.add',
      description: 'Lets another person run the gate and returns their credential, which is shown only this once.',
      mutates: true,
      idempotent: false,
      inputSchema: {
        type: 'object',
        additionalProperties: false,
        required: ['name'],
        properties: {
          name: {
            type: 'string',
            minLength: 1,
            maxLength: 128,
            pattern: '^[A-Za-z0-9._@-]+$',
            description: 'Name of the person, as records will show it.',
          },
        },
      },
      outputSchema: {
        type: 'object',
        required: ['person_id', 'name', 'credential', 'address'],
        properties: {
          person_id: { type: 'string' },
          name: { type: 'string' },
          credential: { type: 'string' },
          address: { type: 'string', description: 'Where the credential is accepted, beside the operator socket.' },
        },
      },
    }),
    claim: () => ({ paths: [] }),
    preview: ({ name }) =>
      Promise.resolve({ summary: `Let ${name} run the gate.`, detail: 'They may do what you may do.', undoable: true }),
    run: async ({ name }) => {
      const taken = activePeople(store).find((person) => person.agent.toLowerCase() === name.toLowerCase());
      if (taken !== undefined || name.toLowerCase() === firstOperator) {
        throw new ToolFailure('ALREADY_EXISTS', `There is a person named ${name} already. Choose another name.`);
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
      return { person_id: id, name, credential, address: address() };
    },
    summarize: ({ name }, output) => `added ${name} as ${(output as { person_id: string }).person_id}`,
  };
}

function listTool(store: PeopleStore): Tool<{ readonly include_revoked: boolean }> {
  return {
    definition: defineAdministration({
      name: 'people.list',
      description: 'Lists the people who may run the gate, without their credentials.',
      mutates: false,
      idempotent: true,
      inputSchema: {
        type: 'object',
        additionalProperties: false,
        properties: {
          include_revoked: { type: 'boolean', default: false, description: 'Also those who may no longer.' },
        },
      },
      outputSchema: {
        type: 'object',
        required: ['people'],
        properties: {
          people: {
            type: 'array',
            items: {
              type: 'object',
              required: ['person_id', 'name', 'status', 'added_at'],
              properties: {
                person_id: { type: 'string' },
                name: { type: 'string' },
                status: { enum: ['active', 'revoked'] },
                added_at: { type: 'string' },
              },
            },
          },
        },
      },
    }),
    claim: () => ({ paths: [] }),
    preview: () => Promise.resolve({ summary: 'List the people.', detail: '', undoable: true }),
    run: async ({ include_revoked: includeRevoked }) => {
      const people = includeRevoked ? await allPeople(store) : activePeople(store);
      return { people: people.map(describePerson) };
    },
    summarize: (_args, output) => `${(output as { people: readonly unknown[] }).people.length} people`,
  };
}

function revokeTool(store: PeopleStore, endSession: EndSession): Tool<{ readonly person_id: string }> {
  return {
    definition: defineAdministration({
      name: 'people.revoke',
      description: "Takes a person's credential away for good. It is worth nothing from the next call on.",
      mutates: true,
      idempotent: true,
      inputSchema: {
        type: 'object',
        additionalProperties: false,
        required: ['person_id'],
        properties: {
          person_id: { type: 'string', minLength: 1, maxLength: 64, description: 'As people.list shows it.' },
        },
      },
      outputSchema: {
        type: 'object',
        required: ['person_id', 'revoked'],
        properties: { person_id: { type: 'string' }, revoked: { type: 'boolean' } },
      },
    }),
    claim: () => ({ paths: [] }),
    preview: async ({ person_id: id }) => {
      const person = await findPerson(store, id);
      const detail = 'Their credential stops working and cannot be restored.';
      return { summary: `Revoke the credential of ${person.agent} (${id}).`, detail, undoable: false };
    },
    run: async ({ person_id: id }, context) => {
      const person = await findPerson(store, id);
      if (person.agent === firstOperator) {
        throw new ToolFailure(
          'EXECUTION_ERROR',
          'The first operator cannot be revoked: whoever owns the home folder holds that credential.',
        );
      }
      if (person.id === context.session.id) {
        throw new ToolFailure('EXECUTION_ERROR', 'You cannot revoke yourself. Ask another person to do it.');
      }
      const by = context.session.agent;
      const revoked = await endSession(id, by);
      for (const console of consolesOf(store, person.agent)) await endSession(console, by);
      return { person_id: id, revoked };
    },
    summarize: ({ person_id: id }) => `revoked ${id}`,
  };
}

/** Whoever takes the name of somebody who left must not take their office with it. */
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

/** A console in a browser is bound to its door. It belongs to a person, and is none. */
function isPerson({ principal, door }: Session): boolean {
  return principal === 'operator' && door === undefined;
}

/** Sessions of agents are not people, whatever id is given. */
async function findPerson(store: PeopleStore, id: string): Promise<Session> {
  const found = await store.readSession(id);
  if (found !== undefined && isPerson(found)) return found;
  throw new ToolFailure('NOT_FOUND', `There is no person ${id}.`, {
    forOperators: '`sallyport person list` shows them.',
  });
}

function describePerson({ id, agent, status, createdAtMs }: Session) {
  return {
    person_id: id,
    name: agent,
    status: status === 'active' ? 'active' : 'revoked',
    added_at: new Date(createdAtMs).toISOString(),
  };
}
