import { LeaseService, spellCount } from '@sallyport/contract';
import type { Session } from '../../call/session.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { AnyTool } from '../../call/tool.ts';
import type { Store } from '../../storage/stores.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import {
  budgetProperties,
  describeLease,
  expiryProperty,
  flattenRequest,
  leaseProperties,
  readBudget,
  readExpiry,
  readLease,
} from './lease-arguments.ts';
import { findSession, sessionProperty } from './sessions.ts';

type LeaseStore = Pick<Store, 'readSession' | 'grantLease' | 'listLeases' | 'revokeLease'>;

/** Tools that set what a session may use. Governed calls like any other, for operators only. */
export function leaseTools(store: LeaseStore): readonly AnyTool[] {
  return [grantTool(store), showTool(store), revokeTool(store)];
}

function grantTool(store: LeaseStore) {
  return defineOperatorTool({
    name: 'leases.grant',
    description: 'Gives a session a new lease. The lease it had ends for good.',
    mutates: true,
    properties: { session_id: sessionProperty, ...leaseProperties, ...expiryProperty, ...budgetProperties },
    required: ['session_id'],
    answers: LeaseService.method.grantLease,
    argumentsOf: flattenRequest,
    preview: (args) => ({ summary: `Replace the lease of session ${args.session_id}.` }),
    run: async (args, context) => {
      const { session_id: id } = args;
      await findAgentSession(store, id, context.session);
      const nowMs = Date.now();
      const expiry = readExpiry(args.expires_in_minutes, nowMs);
      const granted = await store.grantLease(id, readLease(args, { ...expiry, budget: readBudget(args) }), nowMs);
      if (!granted) throw new ToolFailure('EXECUTION_ERROR', 'The session is not active, so it gets no lease.');
      return { sessionId: id, lease: describeLease((await findSession(store, id)).lease, Date.now()) };
    },
    summarize: ({ session_id: id }) => `granted a lease to session ${id}`,
  });
}

function showTool(store: LeaseStore) {
  return defineOperatorTool({
    name: 'leases.show',
    description: 'Shows the leases of a session, newest first, with what was spent on each.',
    mutates: false,
    properties: { session_id: sessionProperty },
    required: ['session_id'],
    answers: LeaseService.method.listLeases,
    run: async ({ session_id: id }) => {
      await findSession(store, id);
      const nowMs = Date.now();
      const leases = (await store.listLeases(id)).map((lease) => describeLease(lease, nowMs));
      return { sessionId: id, leases: leases.toReversed() };
    },
    summarize: (_args, { leases }) => spellCount(leases.length, 'lease'),
  });
}

function revokeTool(store: LeaseStore) {
  return defineOperatorTool({
    name: 'leases.revoke',
    description:
      'Ends the lease of a session for good. The session stays, but can call nothing until it gets a new lease.',
    mutates: true,
    idempotent: true,
    properties: { session_id: sessionProperty },
    required: ['session_id'],
    answers: LeaseService.method.revokeLease,
    preview: ({ session_id: id }) => ({ summary: `Revoke the lease of session ${id}.` }),
    run: async ({ session_id: id }, context) => {
      await findAgentSession(store, id, context.session);
      return { sessionId: id, revoked: await store.revokeLease(id, Date.now()) };
    },
    summarize: ({ session_id: id }) => `revoked the lease of session ${id}`,
  });
}

/** Operators have no leases, so that none can lock out themselves or another. */
async function findAgentSession(store: LeaseStore, id: string, caller: Session): Promise<Session> {
  const session = await findSession(store, id);
  if (session.id !== caller.id && session.principal === 'agent') return session;
  throw new ToolFailure('EXECUTION_ERROR', 'Leases are for the sessions of agents.');
}
