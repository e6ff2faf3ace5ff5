import type { Json, JsonObject } from '@sallyport/contract';
import type { Session } from '../../call/session.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { AnyTool, Tool } from '../../call/tool.ts';
import type { Store } from '../../storage/stores.ts';
import { defineAdministration } from '../../registry/administration.ts';
import {
  budgetProperties,
  describeLease,
  expiryProperty,
  leaseProperties,
  readBudget,
  readExpiry,
  readLease,
} from './lease-arguments.ts';
import type { BudgetArguments, LeaseArguments } from './lease-arguments.ts';

type LeaseStore = Pick<Store, 'readSession' | 'grantLease' | 'listLeases' | 'revokeLease'>;

interface OfSession {
  readonly session_id: string;
}

type GrantArguments = OfSession & LeaseArguments & BudgetArguments & { readonly expires_in_minutes?: number };

const sessionId: JsonObject = {
  session_id: { type: 'string', minLength: 1, maxLength: 64, description: 'As sessions.list shows it.' },
};
const leaseResult: JsonObject = {
  type: 'object',
  required: ['session_id', 'lease'],
  properties: { session_id: { type: 'string' }, lease: { type: 'object' } },
};

/** Saying what a session may use. Governed calls like any other, for operators only. */
export function leaseTools(store: LeaseStore): readonly AnyTool[] {
  return [grantTool(store), showTool(store), revokeTool(store)] as unknown as AnyTool[];
}

function grantTool(store: LeaseStore): Tool<GrantArguments> {
  return {
    definition: defineAdministration({
      name: 'leases.grant',
      description: 'Gives a session a new lease. The lease it had ends for good.',
      mutates: true,
      idempotent: false,
      inputSchema: {
        type: 'object',
        additionalProperties: false,
        required: ['session_id'],
        properties: { ...sessionId, ...leaseProperties, ...expiryProperty, ...budgetProperties },
      },
      outputSchema: leaseResult,
    }),
    claim: () => ({ paths: [] }),
    preview: (args) =>
      Promise.resolve({ summary: `Replace the lease of session ${args.session_id}.`, detail: '', undoable: false }),
    run: async (args, context) => {
      await findAgentSession(store, args.session_id, context.session);
      const nowMs = Date.now();
      const expiry = readExpiry(args.expires_in_minutes, nowMs);
      const granted = await store.grantLease(
        args.session_id,
        readLease(args, { ...expiry, budget: readBudget(args) }),
        nowMs,
      );
      if (!granted) throw new ToolFailure('EXECUTION_ERROR', 'The session is not active, so it gets no lease.');
      return showCurrent(store, args.session_id);
    },
    summarize: ({ session_id: id }) => `granted a lease to session ${id}`,
  };
}

function showTool(store: LeaseStore): Tool<OfSession> {
  return {
    definition: defineAdministration({
      name: 'leases.show',
      description: 'Shows the leases of a session, newest first, with what was spent on each.',
      mutates: false,
      idempotent: true,
      inputSchema: { type: 'object', additionalProperties: false, required: ['session_id'], properties: sessionId },
      outputSchema: {
        type: 'object',
        required: ['session_id', 'leases'],
        properties: { session_id: { type: 'string' }, leases: { type: 'array', items: { type: 'object' } } },
      },
    }),
    claim: () => ({ paths: [] }),
    preview: () => Promise.resolve({ summary: 'Show the leases of a session.', detail: '', undoable: true }),
    run: async ({ session_id: id }) => {
      await findSession(store, id);
      const nowMs = Date.now();
      const leases = (await store.listLeases(id)).map((lease) => describeLease(lease, nowMs));
      return { session_id: id, leases: leases.toReversed() };
    },
    summarize: (_args, output) => `${((output as JsonObject)['leases'] as Json[]).length} leases`,
  };
}

function revokeTool(store: LeaseStore): Tool<OfSession> {
  return {
    definition: defineAdministration({
      name: 'leases.revoke',
      description:
        'Ends the lease of a session for good. The session stays, and can call nothing until it gets another.',
      mutates: true,
      idempotent: true,
      inputSchema: { type: 'object', additionalProperties: false, required: ['session_id'], properties: sessionId },
      outputSchema: {
        type: 'object',
        required: ['session_id', 'revoked'],
        properties: { session_id: { type: 'string' }, revoked: { type: 'boolean' } },
      },
    }),
    claim: () => ({ paths: [] }),
    preview: ({ session_id: id }) =>
      Promise.resolve({ summary: `Revoke the lease of session ${id}.`, detail: '', undoable: false }),
    run: async ({ session_id: id }, context) => {
      await findAgentSession(store, id, context.session);
      return { session_id: id, revoked: await store.revokeLease(id, Date.now()) };
    },
    summarize: ({ session_id: id }) => `revoked the lease of session ${id}`,
  };
}

async function showCurrent(store: LeaseStore, id: string): Promise<Json> {
  return { session_id: id, lease: describeLease((await findSession(store, id)).lease, Date.now()) };
}

/** Operators lock neither themselves nor each other out by a lease. */
async function findAgentSession(store: LeaseStore, id: string, caller: Session): Promise<Session> {
  const session = await findSession(store, id);
  if (session.id !== caller.id && session.principal === 'agent') return session;
  throw new ToolFailure('EXECUTION_ERROR', 'Leases are for the sessions of agents.');
}

async function findSession(store: LeaseStore, id: string): Promise<Session> {
  const session = await store.readSession(id);
  if (session !== undefined) return session;
  throw new ToolFailure('NOT_FOUND', `There is no session ${id}.`, {
    forOperators: '`sallyport session list` shows them.',
  });
}
