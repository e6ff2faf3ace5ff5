import type { IncomingHttpHeaders } from 'node:http';
import { isLegacyRequest } from '@modelcontextprotocol/server';
import type { Server } from '@modelcontextprotocol/server';
import { attempt, isJsonObject, parseStrictJson } from '@sallyport/contract';
import type { Json, JsonObject } from '@sallyport/contract';
import { isRefusal, refuse as refuseCaller } from '../../call/refusal.ts';
import type { Refusal, Violation } from '../../call/refusal.ts';
import type { Session } from '../../call/session.ts';
import type { Store } from '../../storage/stores.ts';
import type { Submit } from '../../call/submission.ts';
import { findCaller } from '../check-caller.ts';
import type { HttpReply, HttpRequest, MessageReply, WholeRequest } from '../transport/http-route.ts';
import { lingerMs } from '../transport/limit-arrival.ts';
import type { Peer } from '../transport/peer.ts';
import { defaultLimits } from '../transport/transport-limits.ts';
import { credentialOf } from '../connect/read-call.ts';
import { answerMessage, answerPlainly } from './answer-plainly.ts';
import type { PlainParts } from './answer-plainly.ts';
import type { Caller } from './caller.ts';
import { findMalformedCalls } from './find-malformed-calls.ts';
import { defaultLegacyLimits, LegacySessions } from './legacy-sessions.ts';
import type { LegacyLimits } from './legacy-sessions.ts';
import { ModernSessions } from './modern-sessions.ts';
import type { OfferedTools } from './offered-tools.ts';
import { readPlainRequest, revisionKey } from './read-plain-request.ts';
import { receiveMessage, UnreadableMessage } from './receive-message.ts';
import { redactReply } from './redact-errors.ts';
import type { ErrorParts } from './redact-errors.ts';
import { replyError } from './reply-error.ts';
import { ToolWatch } from './tool-watch.ts';
import { sendWebResponse, toWebRequest } from './web-exchange.ts';

export interface McpServiceParts extends ErrorParts, PlainParts {
  readonly store: Pick<Store, 'findSessionByToken' | 'findSession'>;
  readonly submit: Submit;
  readonly tools: Pick<OfferedTools, 'causesOf' | 'fingerprint' | 'onChange' | 'has'>;
  /** What the gate takes of arguments. */
  readonly maxArgumentBytes: () => number;
  /** Makes a server for one connection of an older client, or for one request of a newer one. */
  readonly createServer: () => Server;
  readonly limits?: Partial<LegacyLimits>;
  /** How often it looks for what changed. Absent: every second. */
  readonly lookEveryMs?: number;
  readonly onError: (error: Error) => void;
}

/** Whatever else a message holds. */
const maxEnvelopeBytes = 2 * 1024 * 1024;

/**
 * Streamable HTTP for clients of both protocols: those of 2026-07-28, whose requests stand alone, and those before it,
 * which open sessions. Every request presents the token of a session of the gate; what MCP calls a session proves nothing.
 */
export class McpService {
  readonly #parts: McpServiceParts;
  readonly #plainParts: PlainParts & { readonly legacy: LegacySessions };
  readonly #modern: ModernSessions;
  readonly #legacy: LegacySessions;
  readonly #watch: ToolWatch;
  /** Streams that stay open although nothing is asked, and whose they are. */
  readonly #standing = new Map<HttpReply, string>();
  readonly #timer: NodeJS.Timeout;

  constructor(parts: McpServiceParts) {
    this.#parts = parts;
    this.#modern = new ModernSessions(parts.createServer, parts.onError);
    this.#legacy = new LegacySessions(parts.createServer, { ...defaultLegacyLimits, ...parts.limits }, parts.onError);
    this.#plainParts = { ...parts, legacy: this.#legacy };
    this.#watch = new ToolWatch({
      store: parts.store,
      tools: parts.tools,
      onChange: (owner) => {
        this.#modern.notifyTools(owner);
        void this.#legacy.notifyTools(owner);
      },
      onEnd: (owner) => this.#endOwner(owner),
    });
    this.#timer = setInterval(() => this.#look(), parts.lookEveryMs ?? 1000).unref();
    parts.tools.onChange(() => this.#watch.look(Date.now()));
  }

  /** Resolves when the answer has been sent whole, or its reader has gone. */
  async handle(request: HttpRequest | WholeRequest, response: HttpReply, peer: Peer): Promise<void> {
    const session = await this.#identify(peer);
    if (session instanceof Response) return refuse(session, request, response);
    const message = request.method === 'POST' ? await this.#receive(request, peer) : undefined;
    if (message instanceof Response) return refuse(message, request, response);
    const posted = message === undefined ? {} : { message };
    const caller: Caller = { session, peer, ...posted, isBehind: () => response.writableNeedDrain };
    if (message !== undefined) {
      const plain = readPlainRequest(message);
      const { headers } = request;
      const answered = plain && answerPlainly(this.#plainParts, plain, { headers, caller, response });
      if (answered !== undefined) return answered;
      for (const violations of findMalformedCalls(message)) await this.#recordMalformed(peer, violations);
    }
    const stopListening = isStanding(request, message) ? this.#listen(response, session) : undefined;
    try {
      const asked = toWebRequest(request, peer.signal);
      const isOlder = !isModernCall(message) && (await isLegacyRequest(asked, message ?? null));
      const protocol = isOlder ? this.#legacy : this.#modern;
      const { response: answer, release } = await protocol.fetch(asked, caller);
      await sendWebResponse(await redactReply(answer, this.#parts), response).finally(release);
    } finally {
      stopListening?.();
    }
  }

  /**
   * The same for a message on a line of messages, if the gate can answer it itself. Undefined: it must be posted, also to
   * hear why it is refused, and nothing has happened.
   */
  takeMessage(json: string, headers: IncomingHttpHeaders, reply: MessageReply, peer: Peer): Promise<void> | undefined {
    const session = refusePeople(findCaller(this.#parts.store, peer));
    const asked = isRefusal(session) ? undefined : readPlainRequest(attempt(() => parseStrictJson(json)) ?? null);
    if (asked === undefined || isRefusal(session)) return undefined;
    const caller: Caller = { session, peer, isBehind: () => reply.isBehind };
    return answerMessage(this.#plainParts, asked, { headers, caller, reply });
  }

  /** Ends the streams on which nothing is asked; calls that still run are answered. */
  close(): void {
    clearInterval(this.#timer);
    for (const response of this.#standing.keys()) response.end();
  }

  #look(): void {
    const nowMs = Date.now();
    this.#legacy.forgetIdle(nowMs);
    this.#watch.look(nowMs);
  }

  #endOwner(owner: string): void {
    this.#legacy.closeOwner(owner);
    for (const [response, of] of this.#standing) if (of === owner) response.end();
  }

  /** The session behind the token, or the answer to a request without one. Attempts are recorded like every call. */
  async #identify(peer: Peer): Promise<Session | Response> {
    const { store } = this.#parts;
    const session = refusePeople(findCaller(store, peer));
    if (!isRefusal(session)) return session;
    await this.#recordMalformed(peer, []);
    const { message, remedy = '' } = session;
    return replyError(401, -32001, this.#parts.redactor.redactText(`${message} ${remedy}`.trim()), undefined, {
      'www-authenticate': 'Bearer',
    });
  }

  async #receive(request: HttpRequest | WholeRequest, peer: Peer): Promise<Json | Response> {
    const maxBytes = Math.min(2 * this.#parts.maxArgumentBytes() + maxEnvelopeBytes, defaultLimits.maxMessageBytes);
    try {
      return await receiveMessage(request, peer, maxBytes);
    } catch (error) {
      if (!(error instanceof UnreadableMessage)) throw error;
      await this.#recordMalformed(peer, [{ field: 'body', rule: 'form', message: error.message }]);
      return replyError(error.status, error.code, this.#parts.redactor.redactText(error.message));
    }
  }

  async #recordMalformed(peer: Peer, violations: readonly Violation[]): Promise<void> {
    await this.#parts.submit({
      ...unreadable,
      door: peer.door,
      source: peer.source,
      ...credentialOf(peer),
      violations,
      signal: peer.signal,
    });
  }

  #listen(response: HttpReply, session: Session): () => void {
    this.#standing.set(response, session.id);
    const stopWatching = this.#watch.listen(session);
    return () => {
      this.#standing.delete(response);
      stopWatching();
    };
  }
}

/** A client of MCP is an agent. With the credential of a person, it would decide about its own calls. */
function refusePeople(found: Session | Refusal): Session | Refusal {
  if (isRefusal(found) || found.principal === 'agent') return found;
  return refuseCaller('WRONG_DOOR', 'credential', 'MCP is for agents, and this is the credential of a person.', {
    remedy: 'Give the client the token of a session that was made for it.',
    forOperators: 'Make a session for the client, and give it that token: `sallyport session create my-agent`.',
  });
}

const unreadable = {
  toolName: 'unreadable',
  input: '',
  requestId: '',
  timeoutMs: 0,
  dedupeKey: '',
  taskId: '',
  correlationId: '',
  confirmBinding: '',
} as const;

/** A call that itself names its protocol, which is the newer one: the SDK need not be asked, who would check all of it. */
function isModernCall(message: Json | undefined): boolean {
  const { method, params } = fieldsOf(message);
  return method === 'tools/call' && fieldsOf(fieldsOf(params)['_meta'])[revisionKey] !== undefined;
}

function fieldsOf(value: Json | undefined): Partial<JsonObject> {
  return value !== undefined && isJsonObject(value) ? value : {};
}

function isStanding({ method }: Pick<HttpRequest, 'method'>, message: Json | undefined): boolean {
  return method === 'GET' || fieldsOf(message)['method'] === 'subscriptions/listen';
}

/** An answer to a request that may still be under way: its sender has a moment to notice before it is cut off. */
async function refuse(answer: Response, request: HttpRequest | WholeRequest, response: HttpReply): Promise<void> {
  await sendWebResponse(answer, response);
  if ('body' in request || request.complete) return;
  const cut = setTimeout(() => request.destroy(), lingerMs);
  request.once('close', () => clearTimeout(cut));
  request.once('end', () => clearTimeout(cut));
  request.resume();
}
