import { randomUUID } from 'node:crypto';
import {
  isInitializeRequest,
  isJSONRPCRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { JSONRPCMessage, RequestId, Server } from '@modelcontextprotocol/server';
import { authInfoOf } from './caller.ts';
import type { Caller, Served } from './caller.ts';
import { ownText } from '../../call/redacted.ts';
import { replyError } from './reply-error.ts';

/** A client of the protocol before 2026-07-28, between its `initialize` and its end. */
interface LegacySession {
  readonly owner: string;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: Server;
  /** Requests that were posted alone, that the SDK answers, and that are not answered yet. */
  readonly asked: Set<RequestId>;
  /** Calls that the gate answers itself, and how to end them. */
  readonly plain: Map<RequestId, () => void>;
  /** Requests and streams that are open. */
  open: number;
  lastUsedMs: number;
}

export interface LegacyLimits {
  /** Sessions of MCP, in all and of one session of the gate. */
  readonly maxSessions: number;
  readonly maxSessionsPerOwner: number;
  /** After this long without a request or a stream a session is forgotten, and its client begins anew. */
  readonly idleMs: number;
}

export const defaultLegacyLimits: LegacyLimits = { maxSessions: 1024, maxSessionsPerOwner: 16, idleMs: 3_600_000 };

/** A session in which the gate answers a request itself, until `leave`. */
export interface PlainSession {
  readonly server: Server;
  /** Called when the client cancels the request with this id, and when the session ends. */
  readonly onCancelled: (id: RequestId, cancel: () => void) => void;
  readonly leave: (id: RequestId) => void;
}

/** Sessions of MCP belong to the session of the gate that opened them; for everyone else they do not exist. */
export class LegacySessions {
  readonly #createServer: () => Server;
  readonly #limits: LegacyLimits;
  readonly #onError: (error: Error) => void;
  /** By session id, the one that was used longest ago first. */
  readonly #sessions = new Map<string, LegacySession>();

  constructor(createServer: () => Server, limits: LegacyLimits, onError: (error: Error) => void) {
    this.#createServer = createServer;
    this.#limits = limits;
    this.#onError = onError;
  }

  get size(): number {
    return this.#sessions.size;
  }

  async fetch(request: Request, caller: Caller): Promise<Served> {
    const { message } = caller;
    const id = request.headers.get('mcp-session-id');
    const session = id === null ? undefined : this.#find(id, caller.session.id);
    if (session !== undefined) return serve(session, request, caller);
    if (id !== null)
      return refuse(404, -32001, ownText('There is no such MCP session: send initialize again.'), message);
    if (isInitializeRequest(message)) return this.#begin(request, caller);
    return refuse(400, -32000, ownText('The Mcp-Session-Id header is missing: send initialize first.'), message);
  }

  /** Undefined: what is wrong with the request, if anything is, the SDK finds out. */
  enter(id: string, owner: string, requestId: RequestId): PlainSession | undefined {
    const session = this.#find(id, owner);
    // Before the client is known, and for an id that is in use, the SDK knows the rules.
    if (session?.server.getNegotiatedProtocolVersion() === undefined) return undefined;
    if (session.asked.has(requestId) || session.plain.has(requestId)) return undefined;
    session.open++;
    return {
      server: session.server,
      onCancelled: (cancelled, cancel) => void session.plain.set(cancelled, cancel),
      leave: (answered) => {
        session.plain.delete(answered);
        session.open--;
        session.lastUsedMs = Date.now();
      },
    };
  }

  async notifyTools(owner: string): Promise<void> {
    const own = [...this.#sessions.values()].filter((session) => session.owner === owner);
    await Promise.allSettled(own.map(({ server }) => server.sendToolListChanged()));
  }

  /** Ends the sessions of MCP that a session of the gate has opened. */
  closeOwner(owner: string): void {
    for (const [id, session] of this.#sessions) if (session.owner === owner) this.#end(id);
  }

  forgetIdle(nowMs: number): void {
    for (const [id, { open, lastUsedMs }] of this.#sessions) {
      if (open <= 0 && nowMs - lastUsedMs > this.#limits.idleMs) this.#end(id);
    }
  }

  /** The session moves to the end of the line. */
  #find(id: string, owner: string): LegacySession | undefined {
    const session = this.#sessions.get(id);
    if (session?.owner !== owner) return undefined;
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    return session;
  }

  async #begin(request: Request, caller: Caller): Promise<Served> {
    const owner = caller.session.id;
    if (!this.#makeRoom(owner)) {
      return refuse(
        503,
        -32000,
        ownText('Too many MCP clients are connected. End one, or try again later.'),
        caller.message,
      );
    }
    const server = this.#createServer();
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK knows no other way
    server.onerror = this.#onError;
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void this.#sessions.set(id, session),
      onsessionclosed: (id) => this.#end(id),
    });
    const session: LegacySession = {
      ...{ owner, transport, server, asked: new Set(), plain: new Map() },
      ...{ open: 0, lastUsedMs: Date.now() },
    };
    await server.connect(transport);
    endCancelled(session);
    return serve(session, request, caller);
  }

  /**
   * A client that starts over and over leaves its old sessions behind, and takes the place of those. It never takes the
   * place of another owner's.
   */
  #makeRoom(owner: string): boolean {
    const { maxSessions, maxSessionsPerOwner } = this.#limits;
    const own = [...this.#sessions].filter(([, session]) => session.owner === owner);
    if (own.length < maxSessionsPerOwner) return this.#sessions.size < maxSessions;
    const idle = own.find(([, session]) => session.open <= 0);
    if (idle === undefined) return false;
    this.#end(idle[0]);
    return true;
  }

  #end(id: string): void {
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    for (const cancel of session?.plain.values() ?? []) cancel();
    session?.server.close().catch(this.#onError);
  }
}

/** A request that is cancelled gets no answer, so that the stream that waits for one would stay open for ever. */
function endCancelled({ transport, asked, plain }: LegacySession): void {
  const { onmessage: receive } = transport;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK knows no other way
  transport.onmessage = (message: JSONRPCMessage, extra) => {
    receive?.(message, extra);
    if (!('method' in message) || message.method !== 'notifications/cancelled') return;
    const id = message.params?.['requestId'] as RequestId;
    plain.get(id)?.();
    if (asked.has(id)) transport.closeSSEStream(id);
  };
}

async function serve(session: LegacySession, request: Request, caller: Caller): Promise<Served> {
  const { message } = caller;
  session.open++;
  const id = isJSONRPCRequest(message) ? message.id : undefined;
  if (id !== undefined) session.asked.add(id);
  const release = (): void => {
    session.open--;
    if (id !== undefined) session.asked.delete(id);
    session.lastUsedMs = Date.now();
  };
  try {
    const parsed = message === undefined ? {} : { parsedBody: message };
    const response = await session.transport.handleRequest(request, { ...parsed, authInfo: authInfoOf(caller) });
    return { response, release };
  } catch (error) {
    release();
    throw error;
  }
}

function refuse(...reply: Parameters<typeof replyError>): Served {
  return { response: replyError(...reply), release: () => undefined };
}
