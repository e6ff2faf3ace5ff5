import { hash, randomUUID, randomUUIDv7 } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { TestContext } from 'node:test';
import type { JsonObject } from '../../../packages/contract/src/canonical-json.ts';
import { describeHome } from '../../../packages/gateway/src/daemon/home/home.ts';
import { Transfers } from '../../../packages/gateway/src/content/transfers.ts';
import type { Submission } from '../../../packages/gateway/src/call/submission.ts';
import { ClientFolders } from '../../../packages/gateway/src/doors/mcp/client-folders.ts';
import { loneWorkspace } from '../../../packages/gateway/src/call/workspace.ts';
import { describeServer, gateServers } from '../../../packages/gateway/src/doors/mcp/gate-server.ts';
import { KnownEnvelopes } from '../../../packages/gateway/src/doors/mcp/known-envelopes.ts';
import type { LegacyLimits } from '../../../packages/gateway/src/doors/mcp/legacy-sessions.ts';
import { McpService } from '../../../packages/gateway/src/doors/mcp/mcp-service.ts';
import { ShownDefinitions } from '../../../packages/gateway/src/registry/shown-definitions.ts';
import { OfferedTools } from '../../../packages/gateway/src/doors/mcp/offered-tools.ts';
import { ParkedCalls } from '../../../packages/gateway/src/doors/mcp/parked-calls.ts';
import { PendingTickets } from '../../../packages/gateway/src/doors/mcp/pending-tickets.ts';
import { mcpRoutes } from '../../../packages/gateway/src/doors/mcp/serve.ts';
import { openDoors } from '../../../packages/gateway/src/doors/transport/open-doors.ts';
import type { Peer } from '../../../packages/gateway/src/doors/transport/peer.ts';
import type { CallEnding } from '../../../packages/gateway/src/call/stage.ts';
import { isRefusal, refuse } from '../../../packages/gateway/src/call/refusal.ts';
import type { Refusal } from '../../../packages/gateway/src/call/refusal.ts';
import { defaultSettings } from '../../../packages/gateway/src/call/organisation.ts';
import type { Organisation } from '../../../packages/gateway/src/call/organisation.ts';
import type { Mode, Session } from '../../../packages/gateway/src/call/session.ts';
import { ToolFailure } from '../../../packages/gateway/src/call/tool.ts';
import type { AnyTool, ToolContext } from '../../../packages/gateway/src/call/tool.ts';
import { Registry } from '../../../packages/gateway/src/registry/registry.ts';
import { sessionOf } from '../../../packages/gateway/src/stages/facts.test-kit.ts';
import { authenticate } from '../../../packages/gateway/src/sessions/authenticate.ts';
import { ToolVisibility } from '../../../packages/gateway/src/sessions/tool-visibility.ts';
import { everyoneKnown } from '../../doors/echo-doors.ts';
import { newPlace } from '../../harness/daemon.ts';
import type { Place } from '../../harness/daemon.ts';
import { Redactor } from '../../../packages/gateway/src/redaction/redact.ts';
import { answerOf } from '../../../packages/gateway/src/daemon/answer-call.test-kit.ts';
import { ownText } from '../../../packages/gateway/src/call/redacted.ts';
import type { Answer } from '../../../packages/gateway/src/call/answer.ts';
import type { Begun } from '../../../packages/gateway/src/call/call.ts';

/** Of the SDK that the gateway uses, whichever other copies are installed. */
export type CreateServer = ReturnType<typeof gateServers>;

export interface DoorOptions {
  readonly tools: readonly AnyTool[];
  /** Makes servers out of those of the gate. Absent: they are served as they are. */
  readonly adapt?: (createServer: CreateServer) => CreateServer;
  /** For clients that cannot present one. Absent: each brings its own. */
  readonly credential?: () => string;
  readonly limits?: Partial<LegacyLimits>;
  /** False: the SDK answers every request. Absent: the gate answers those of the usual shape itself. */
  readonly isPlain?: false;
}

/** The MCP door on real sockets, with a gateway that the test plays. Closed when the test ends. */
export interface TestDoor {
  readonly url: URL;
  /** Where the command line finds the door, as if a daemon were there. */
  readonly place: Place;
  readonly registry: Registry;
  /** What reached the gateway, in order. */
  readonly calls: readonly Submission[];
  /** How many messages were answered on lines. */
  readonly countOnLines: () => number;
  /** Lets calls that run end, and takes no further one. */
  readonly stop: () => Promise<void>;
  /** Errors that the door kept to itself. */
  readonly complaints: readonly unknown[];
  /** Opens a session, or changes it; the token is the id. */
  readonly setSession: (more?: Partial<Session>) => string;
  readonly setMode: (mode: Mode) => void;
  /** What the rules say; every tool may be called at first. */
  readonly setRules: (hash: string, mayOpen: (tool: string) => boolean) => void;
  /** What the organisation takes away from everyone; nothing at first. */
  readonly revoke: (tools: string) => void;
}

export async function openTestDoor(t: TestContext, options: DoorOptions): Promise<TestDoor> {
  const place = newPlace();
  const { agentSocket, operatorSocket } = describeHome(place.home);
  for (const socket of [agentSocket, operatorSocket]) mkdirSync(dirname(socket), { recursive: true });
  const sessions = new Map<string, Session>();
  const byToken = new Map<string, Session>();
  let mode: Mode = 'NORMAL';
  let rules = rulesOf('first', () => true);
  let organisation = emptyOrganisation;
  const store = {
    findSession: (id: string) => sessions.get(id),
    findSessionByToken: (sha256: string) => byToken.get(sha256),
    readMode: () => mode,
    readOrganisation: () => organisation,
  };
  const registry = new Registry();
  registry.replaceSource('test', options.tools);
  const calls: Submission[] = [];
  const submit = async (call: Submission): Promise<Answer> => {
    calls.push(call);
    return answerOf(await play(call, authenticate(store, call, Date.now()), registry));
  };
  const visibility = new ToolVisibility({ store, rulesFor: () => rules, modes: alwaysOpen });
  const redactor = new Redactor();
  const definitions = new ShownDefinitions(redactor);
  const tools = new OfferedTools({ registry, visibility, definitions });
  const complaints: unknown[] = [];
  const linkToTask = (taskId: string): string => `http://127.0.0.1:4780/#/approvals/${taskId}`;
  const tickets = new PendingTickets({
    findApproval: () => Promise.resolve(undefined),
    listApprovals: () => Promise.resolve([]),
  });
  const folders = new ClientFolders({ registry, workspaceOf: () => loneWorkspace(place.workspace) });
  const callParts = { submit, tools, tickets, folders, linkToTask, parked: new ParkedCalls() };
  const envelopes = new KnownEnvelopes();
  const createServer = gateServers({
    ...{ ...callParts, downloads: new Transfers(), envelopes, version: '0.0.0', redactor },
    onFault: (error) => void complaints.push(error),
  });
  const service = new McpService({
    ...{ store, submit, calls: callParts, envelopes, redactor, serverInfo: describeServer('0.0.0') },
    tools: options.isPlain === false ? withoutPlain(tools) : tools,
    onFault: (error) => void complaints.push(error),
    maxArgumentBytes: () => 1024 * 1024,
    lookEveryMs: 50,
    createServer: options.adapt?.(createServer) ?? createServer,
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    onError: (error) => void complaints.push(error),
  });
  const { credential } = options;
  let onLines = 0;
  const asTold = (peer: Peer): Peer => (credential === undefined ? peer : withCredential(peer, credential()));
  const doors = await openDoors({
    services: [],
    routes: mcpRoutes(
      (request, response, peer) => service.handle(request, response, asTold(peer)),
      (json, headers, reply, peer) => {
        const taken = service.takeMessage(json, headers, reply, asTold(peer));
        if (taken !== undefined) onLines += 1;
        return taken;
      },
    ),
    tcp: { host: '127.0.0.1', port: 0 },
    ...{ operatorSocket, agentSocket },
    callers: {
      ...everyoneKnown,
      identify: (_, token = '') => byToken.get(hash('sha256', credential?.() ?? token))?.id,
    },
    health: () => ({ status: 'serving' }),
    log: (event) => void complaints.push(event),
    redact: ownText,
  });
  t.after(async () => {
    service.close();
    tools.close();
    await doors.close(1000);
    rmSync(place.folder, { recursive: true });
  });
  return {
    ...{ place, registry, calls, complaints },
    url: new URL(`${doors.address}/mcp`),
    countOnLines: () => onLines,
    stop: () => doors.close(5000),
    setSession: (more = {}) => {
      const session = sessionOf({ id: randomUUID(), principal: 'agent', agent: 'ada', ...more });
      sessions.set(session.id, session);
      byToken.set(hash('sha256', session.id), session);
      return session.id;
    },
    setMode: (next) => void (mode = next),
    setRules: (next, mayOpen) => void (rules = rulesOf(next, mayOpen)),
    revoke: (name) => {
      const permission = {
        level: 'organisation',
        subject: '',
        tools: name,
        effect: 'revoked',
        by: 'olga',
        atMs: 0,
      } as const;
      organisation = { ...organisation, permissions: [...organisation.permissions, permission] };
    },
  };
}

/** Finds and runs the tool, and nothing else. */
async function play(call: Submission, session: Session | Refusal, registry: Registry): Promise<CallEnding> {
  const begun = {
    ...(call as Omit<Begun, 'callId' | 'startedAtMs'>),
    callId: randomUUIDv7(),
    startedAtMs: Date.now(),
    traceId: randomUUID().replaceAll('-', ''),
  };
  const refused = (refusal: Refusal): CallEnding => ({ kind: 'refused', call: begun, refusal, stage: 'test' });
  if (isRefusal(session)) return refused(session);
  if (call.violations !== undefined) return refused(refuse('MALFORMED_CALL', 'call-shape', 'malformed'));
  const tool = registry.find(call.toolName)?.tool;
  if (tool === undefined)
    return refused(refuse('UNKNOWN_TOOL', 'registry', `There is no tool named ${call.toolName}.`));
  const end = (outcome: object): CallEnding =>
    ({
      kind: 'completed',
      call: { ...begun, session, tool, outcome, warnings: [], execution: { usage: {}, changes: [] } },
    }) as unknown as CallEnding;
  const context = {
    session,
    callId: begun.callId,
    signal: call.signal,
    redact: ownText,
    reportProgress: call.onProgress ?? ignore,
  };
  try {
    const output = await tool.run(JSON.parse(call.input) as JsonObject, context as unknown as ToolContext);
    return end({ ok: true, outputJson: JSON.stringify(output), summary: '' });
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    return end({ ok: false, failure: error });
  }
}

function rulesOf(version: string, mayOpen: (tool: string) => boolean) {
  const workspace = { folder: '/workspace', root: '/workspace', otherRoots: [], key: '' };
  const opens = ({ tool }: { readonly tool: { readonly name: string } }) => mayOpen(tool.name);
  return { hash: version, workspace, mayOpen: opens };
}

function withoutPlain(tools: OfferedTools): ConstructorParameters<typeof McpService>[0]['tools'] {
  return {
    causesOf: (session, nowMs) => tools.causesOf(session, nowMs),
    fingerprint: (session, nowMs) => tools.fingerprint(session, nowMs),
    onChange: (listener) => tools.onChange(listener),
    has: () => false,
  };
}

const ignore = (): void => undefined;
const alwaysOpen = { isClosed: () => false, isOpenedByName: () => false };
const emptyOrganisation: Organisation = { settings: defaultSettings, teams: [], members: [], permissions: [] };

function withCredential(peer: Peer, credential: string): Peer {
  return {
    door: peer.door,
    source: peer.source,
    deadlineMs: peer.deadlineMs,
    readBody: (source, limits) => peer.readBody(source, limits),
    recognise: (given) => peer.recognise(given),
    letGo: (message) => peer.letGo(message),
    cancellation: peer.cancellation,
    cancel: () => peer.cancel(),
    signal: peer.signal,
    headers: (name) => (name === 'authorization' ? `Bearer ${credential}` : peer.headers(name)),
  };
}
