import { hash, randomBytes, randomUUIDv7 } from 'node:crypto';
import { SessionService, spellCount } from '@sallyport/contract';
import type { InJson, Session as SessionMessage } from '@sallyport/contract';
import { explainWebhookUrl } from '../../approvals/notifications/webhook-url.ts';
import type { Session } from '../../call/session.ts';
import { ToolFailure } from '../../call/tool.ts';
import { resolveLinks } from '../../policy/patterns/canonical-path.ts';
import type { AnyTool } from '../../call/tool.ts';
import type { Store } from '../../storage/stores.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import {
  budgetProperties,
  describeBudget,
  describeLease,
  expiryProperty,
  flattenRequest,
  leaseProperties,
  readBudget,
  readExpiry,
  readLease,
  readRoot,
} from './lease-arguments.ts';
import * as schema from '../../registry/schemas/schema.ts';

type SessionStore = Pick<Store, 'createSession' | 'readSession' | 'listSessions'>;

interface NamedFolders {
  readonly workspace?: string;
  readonly client_folder?: string;
  readonly working_directory?: string;
}

/** Where sessions may work. */
export interface SessionPlaces {
  /** The workspace of the daemon. */
  readonly own: string;
  /** The accepted root around a folder. Expects a path without links. */
  readonly findRoot: (folder: string) => string | undefined;
  /** The folder without links. Throws ToolFailure when sessions cannot work in it. */
  readonly resolve: (folder: string) => string;
}

export interface SessionToolOptions {
  readonly places: SessionPlaces;
  /** The secret that signs messages to the callback of a session. */
  readonly callbackSecret: (sessionId: string) => string;
  readonly endSession: EndSession;
}

/** Ends a session for good, and the calls that it runs. False when it does not exist or has ended before. */
export type EndSession = (id: string, by: string) => Promise<boolean>;

/** Tools that create, show and end sessions. Governed calls like any other, for operators only. */
export function sessionTools(store: SessionStore, options: SessionToolOptions): readonly AnyTool[] {
  return [
    createTool(store, options),
    listTool(store, options.places.own),
    showTool(store, options.places.own),
    endTool(store, options),
  ];
}

export const newToken = (): string => `sp_${randomBytes(32).toString('base64url')}`;

function createTool(store: SessionStore, { places, callbackSecret }: SessionToolOptions) {
  return defineOperatorTool({
    name: 'sessions.create',
    description: 'Lets an agent in: creates a session and returns its token, which is shown only this once.',
    mutates: true,
    properties: {
      agent: schema.string('Name of the agent.', { minLength: 1, maxLength: 128, pattern: '^[A-Za-z0-9._@-]+$' }),
      ...leaseProperties,
      ...expiryProperty,
      ...budgetProperties,
      working_directory: schema.string('Where relative paths start. Absent: the workspace.', { maxLength: 4096 }),
      workspace: schema.string(
        'What $WORKSPACE stands for: a folder in an accepted root. Absent: the accepted root around working_directory or client_folder, or else the workspace of the daemon.',
        { maxLength: 4096 },
      ),
      client_folder: schema.string('The folder where the client runs. It only selects one of the accepted roots.', {
        maxLength: 4096,
      }),
      callback_url: schema.string(
        'URL that receives a signed message when a waiting call of the session is decided. Absent: no message is sent.',
        { maxLength: 2000 },
      ),
    },
    required: ['agent'],
    answers: SessionService.method.createSession,
    argumentsOf: flattenRequest,
    preview: ({ agent, callback_url: callbackUrl }) => {
      const detail = callbackUrl === undefined ? '' : `Decisions about its calls are sent to ${callbackUrl}\n`;
      return { summary: `Create a session for ${agent}.`, detail, undoable: true };
    },
    run: async (args) => {
      const token = newToken();
      const id = randomUUIDv7();
      const nowMs = Date.now();
      const expiry = readExpiry(args.expires_in_minutes, nowMs);
      const { agent, callback_url: callbackUrl } = args;
      const workspace = chooseWorkspace(args, places);
      const problem = callbackUrl === undefined ? undefined : explainWebhookUrl(callbackUrl);
      if (problem !== undefined) throw new ToolFailure('INVALID_ARGUMENTS', `callback_url ${problem}.`);
      await store.createSession({
        id,
        principal: 'agent',
        agent,
        tokenSha256: hash('sha256', token),
        createdAtMs: nowMs,
        ...expiry,
        workspace,
        workingDirectory: args.working_directory === undefined ? workspace : readRoot(args.working_directory),
        ...(callbackUrl === undefined ? {} : { callbackUrl }),
        lease: readLease(args),
        budget: readBudget(args),
      });
      const { expiresAtMs } = expiry;
      const end = expiresAtMs === undefined ? {} : { expiresAtMs: String(expiresAtMs) };
      const signing = callbackUrl === undefined ? '' : callbackSecret(id);
      return { sessionId: id, agent, token, workspace, ...end, callbackSecret: signing };
    },
    summarize: ({ agent }, { sessionId }) => `created session ${sessionId} for ${agent}`,
  });
}

/**
 * A folder that the client names only selects one of the accepted folders. An operator can choose a folder inside one.
 */
function chooseWorkspace(args: NamedFolders, places: SessionPlaces): string {
  const { workspace, working_directory: start, client_folder: client } = args;
  if (workspace !== undefined) {
    const folder = places.resolve(workspace);
    if (places.findRoot(folder) !== undefined) return folder;
    throw new ToolFailure('INVALID_ARGUMENTS', `${folder} is not in a folder that an operator accepted.`, {
      forOperators: `Accept it with \`sallyport workspace add ${folder}\`.`,
    });
  }
  const named = start ?? client;
  const root = named === undefined ? undefined : places.findRoot(resolveLinks(readRoot(named)));
  return root ?? places.own;
}

function listTool(store: SessionStore, own: string) {
  return defineOperatorTool({
    name: 'sessions.list',
    description: 'Lists the sessions, without their tokens.',
    mutates: false,
    properties: { include_ended: schema.flag('Also list sessions that have ended or expired.') },
    answers: SessionService.method.listSessions,
    run: async ({ include_ended: includeEnded }) => {
      const nowMs = Date.now();
      const shown = (await store.listSessions()).map((session) => describeSession(session, nowMs, own));
      return { sessions: shown.filter(({ status }) => includeEnded || status === 'active') };
    },
    summarize: (_args, { sessions }) => spellCount(sessions.length, 'session'),
  });
}

function showTool(store: SessionStore, own: string) {
  return defineOperatorTool({
    name: 'sessions.show',
    description: 'Shows one session: its state, its spending and its lease.',
    mutates: false,
    properties: { session_id: sessionProperty },
    required: ['session_id'],
    answers: SessionService.method.getSession,
    run: async ({ session_id: id }) => {
      const session = await findSession(store, id);
      const nowMs = Date.now();
      return { session: describeSession(session, nowMs, own), lease: describeLease(session.lease, nowMs) };
    },
    summarize: ({ session_id: id }) => `showed session ${id}`,
  });
}

function endTool(store: SessionStore, { endSession }: SessionToolOptions) {
  return defineOperatorTool({
    name: 'sessions.end',
    description: 'Ends a session for good, and its running calls. Its token is refused from then on.',
    mutates: true,
    idempotent: true,
    properties: { session_id: sessionProperty },
    required: ['session_id'],
    answers: SessionService.method.terminateSession,
    preview: ({ session_id: id }) => ({ summary: `End session ${id}.` }),
    run: async ({ session_id: id }, context) => {
      const session = await findSession(store, id);
      // A console is one browser of a person. Ending it leaves their credential valid.
      if (session.principal === 'operator' && session.door === undefined) {
        throw new ToolFailure('EXECUTION_ERROR', 'That is the session of a person.', {
          forOperators: '`sallyport person revoke` revokes their credential.',
        });
      }
      return { sessionId: id, ended: await endSession(id, context.session.agent) };
    },
    summarize: ({ session_id: id }) => `ended session ${id}`,
  });
}

function describeSession(session: Session, nowMs: number, own: string): InJson<SessionMessage> {
  const { expiresAtMs } = session;
  const expired = expiresAtMs !== undefined && expiresAtMs <= nowMs;
  return {
    sessionId: session.id,
    agent: session.agent,
    principal: session.principal,
    door: session.door ?? '',
    status: session.status === 'active' && expired ? 'expired' : session.status,
    createdAtMs: String(session.createdAtMs),
    ...(expiresAtMs === undefined ? {} : { expiresAtMs: String(expiresAtMs) }),
    ...describeBudget(session.budget, session.spent),
    tools: session.lease.tools,
    workspace: session.workspace ?? own,
    workingDirectory: session.workingDirectory,
    callbackUrl: session.callbackUrl ?? '',
    lease: describeLease(session.lease, nowMs),
  };
}

/** An argument that names a session. */
export const sessionProperty = schema.id('As sessions.list shows it.');

export async function findSession(store: Pick<Store, 'readSession'>, id: string): Promise<Session> {
  const session = await store.readSession(id);
  if (session !== undefined) return session;
  throw new ToolFailure('NOT_FOUND', `There is no session ${id}.`, {
    forOperators: '`sallyport session list` shows them.',
  });
}
