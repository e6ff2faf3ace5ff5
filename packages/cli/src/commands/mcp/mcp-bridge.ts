import { setTimeout as sleep } from 'node:timers/promises';
import type { McpAnswer, McpExchange, McpRequest } from './mcp-exchange.ts';
import { headersOf, parseMcpMessage } from './mcp-message.ts';
import type { McpMessage } from './mcp-message.ts';
import { ShortWay } from './short-way.ts';
import type { LineSession } from './short-way.ts';
import { hasErrorCode } from '../../client/failure.ts';

export interface BridgeParts {
  readonly exchange: Pick<McpExchange, 'send' | 'openLine'>;
  /** Takes a message for the client, or several, a line each. A promise resolves when there is room for more. */
  readonly write: (message: string) => Promise<void> | undefined;
  /** For people who look at the client's log. */
  readonly note: (text: string) => void;
  /** What to do when no daemon answers. */
  readonly unreachable: string;
  /** How long a message waits for a daemon that is being restarted. */
  readonly patienceMs?: number;
}

/** Of an older client: what it takes to open its session again with a daemon that forgot it. */
interface LegacySession {
  readonly initialize: McpMessage;
  initialized?: McpMessage;
  id: string | undefined;
  revision: string | undefined;
}

const noDaemon = ['ENOENT', 'ECONNREFUSED', 'ENOTDIR'];
const firstPauseMs = 100;
const longestPauseMs = 2000;
const mostReopenings = 3;
const parseError = -32700;
const serverError = -32000;
const changed = 'notifications/tools/list_changed';

/**
 * Carries the messages of one client, whatever its protocol, to the daemon and back. Nothing of a message is changed:
 * the daemon sees what the client wrote. A daemon that is restarted is found again; a call that it held when it ended is
 * answered with an error and never sent twice.
 */
export class McpBridge {
  readonly #parts: BridgeParts;
  readonly #shortWay: ShortWay;
  /** How to cancel the requests that run. */
  readonly #running = new Map<string | number, () => void>();
  readonly #closing = new AbortController();
  #legacy: LegacySession | undefined;
  #reopening: Promise<void> | undefined;
  /** Notifications and responses arrive in the order in which the client wrote them. */
  #order: Promise<void> = Promise.resolve();

  constructor(parts: BridgeParts) {
    this.#parts = parts;
    this.#shortWay = new ShortWay(parts.exchange, parts.write);
  }

  /** Takes one line of the client. Its answers come when they come. */
  receive(line: string): void {
    const message = parseMcpMessage(line);
    if (message === undefined) {
      void this.#fail([null], parseError, 'The line is not JSON.');
    } else if (message.cancelled !== undefined && this.#running.has(message.cancelled)) {
      this.#running.get(message.cancelled)?.();
    } else if (message.ids.length === 0) {
      this.#order = this.#order.then(() => this.#deliver(message, this.#closing.signal));
    } else {
      const sent = this.#order;
      void sent.then(() => this.#askShortly(message));
    }
  }

  /** The client has gone: what runs for it is cancelled, and its session ended. */
  async close(): Promise<void> {
    const id = this.#legacy?.id;
    this.#closing.abort();
    for (const cancel of this.#running.values()) cancel();
    this.#shortWay.close();
    if (id === undefined) return;
    const farewell = {
      method: 'DELETE',
      headers: { 'mcp-session-id': id },
      signal: AbortSignal.timeout(1000),
    } as const;
    await this.#parts.exchange.send(farewell).catch(() => undefined);
  }

  /** Over the line of messages, if it takes the request. Otherwise, and if the daemon wants it so, it is posted. */
  #askShortly(message: McpMessage): void {
    if (this.#closing.signal.aborted) return;
    const [id = ''] = message.ids;
    const cancelOnLine = this.#shortWay.send(message, this.#sessionOf(message), (end) => {
      if (this.#running.get(id) === cancel) this.#running.delete(id);
      if (end === 'declined') void this.#ask(message);
      if (end === 'lost') void this.#tellLost([id], lostAnswer);
    });
    if (cancelOnLine === undefined) return void this.#ask(message);
    const cancel = (): void => {
      this.#running.delete(id);
      cancelOnLine();
    };
    this.#running.set(id, cancel);
  }

  async #ask(message: McpMessage): Promise<void> {
    if (this.#closing.signal.aborted) return;
    const abort = new AbortController();
    const cancel = (): void => abort.abort();
    for (const id of message.ids) this.#running.set(id, cancel);
    try {
      await this.#deliver(message, abort.signal);
    } finally {
      for (const id of message.ids) if (this.#running.get(id) === cancel) this.#running.delete(id);
    }
  }

  /** What a line must know of the session. Undefined: the message stands alone, or there is no session yet. */
  #sessionOf(message: McpMessage): LineSession | undefined {
    const { headers } = this.#describe(message);
    const id = headers['mcp-session-id'];
    return id === undefined ? undefined : { id, headers };
  }

  /** Never rejects: what goes wrong is told to the client. */
  async #deliver(message: McpMessage, signal: AbortSignal): Promise<void> {
    const open = new Set(message.ids);
    try {
      if (message.method === 'initialize') this.#legacy = { initialize: message, id: undefined, revision: undefined };
      await this.#forward(message, open, signal);
      if (message.method === 'notifications/initialized') this.#beginListening(message);
    } catch (error) {
      if (signal.aborted) return;
      const isAbsent = hasErrorCode(error, ...noDaemon);
      await this.#tellLost([...open], isAbsent ? this.#parts.unreachable : lostAnswer);
    }
  }

  async #tellLost(ids: readonly (string | number)[], reason: string): Promise<void> {
    this.#parts.note(reason);
    await this.#fail(ids, serverError, reason);
  }

  async #forward(message: McpMessage, open: Set<string | number>, signal: AbortSignal): Promise<void> {
    const isSubscription = message.method === 'subscriptions/listen';
    for (let attempt = 0, pauseMs = firstPauseMs; ; attempt++, pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      try {
        const answer = await this.#send(message, signal);
        if (isSubscription && answer.status === 200) pauseMs = firstPauseMs;
        if (answer.status === 404 && this.#isForgotten(message) && attempt < mostReopenings) {
          await drain(answer);
          await this.#reopen();
          continue;
        }
        await this.#passOn(answer, message, { open, isRepeated: isSubscription && attempt > 0 });
        if (open.size === 0) return;
        throw new Error('the answer was cut off');
      } catch (error) {
        // A subscription is only listening, so that it can be opened again as often as it takes.
        if (!isSubscription || signal.aborted) throw error;
        await sleep(pauseMs, undefined, { signal });
      }
    }
  }

  /** Waits for a daemon that is not there. Once a connection stood, nothing is sent a second time. */
  async #send(message: McpMessage, signal: AbortSignal): Promise<McpAnswer> {
    const untilMs = Date.now() + (this.#parts.patienceMs ?? 30_000);
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      try {
        return await this.#parts.exchange.send({ ...this.#describe(message), body: message.line, signal });
      } catch (error) {
        if (!hasErrorCode(error, ...noDaemon) || Date.now() + pauseMs > untilMs) throw error;
        await sleep(pauseMs, undefined, { signal });
      }
    }
  }

  #describe(message: McpMessage): Pick<McpRequest, 'method' | 'headers'> {
    const { id, revision } = this.#legacy ?? {};
    if (message.revision !== undefined) return { method: 'POST', headers: headersOf(message) };
    if (id === undefined || message.method === 'initialize') return { method: 'POST', headers: {} };
    return {
      method: 'POST',
      headers: { 'mcp-session-id': id, ...(revision === undefined ? {} : { 'mcp-protocol-version': revision }) },
    };
  }

  #isForgotten({ revision, method }: McpMessage): boolean {
    return revision === undefined && method !== 'initialize' && this.#legacy?.id !== undefined;
  }

  /** Writes what the daemon says for the client, and takes the requests that it answers off the list of open ones. */
  async #passOn(
    answer: McpAnswer,
    { method }: McpMessage,
    { open, isRepeated }: { readonly open: Set<string | number>; readonly isRepeated: boolean },
  ): Promise<void> {
    if (method === 'initialize' && this.#legacy !== undefined) this.#legacy.id = answer.sessionId;
    for await (const text of answer.messages) {
      const message = parseAnswer(text);
      if (message === undefined) break;
      if (method === 'initialize') this.#noteRevision(message);
      const adapted = adapt(message, open, isRepeated);
      // A message is a line, whatever lines it came in.
      await this.#parts.write(adapted === message && !text.includes('\n') ? text : JSON.stringify(adapted));
      for (const each of Array.isArray(message) ? (message as Fields[]) : [message]) open.delete(each['id'] as string);
    }
    if (answer.status < 400) return;
    await this.#fail([...open], serverError, `The daemon refused the message (HTTP ${answer.status}).`);
    open.clear();
  }

  #noteRevision(message: Fields): void {
    const { protocolVersion } = (message['result'] ?? {}) as { readonly protocolVersion?: unknown };
    if (this.#legacy !== undefined && typeof protocolVersion === 'string') this.#legacy.revision = protocolVersion;
  }

  /** Opens the session of an older client again, once for all who notice that it is gone. */
  #reopen(): Promise<void> {
    this.#reopening ??= this.#openAgain().finally(() => (this.#reopening = undefined));
    return this.#reopening;
  }

  async #openAgain(): Promise<void> {
    const session = this.#legacy;
    if (session === undefined) return;
    const { signal } = this.#closing;
    const answer = await this.#send(session.initialize, signal);
    for await (const text of answer.messages) this.#noteRevision(JSON.parse(text) as Fields);
    if (answer.sessionId === undefined) throw new Error('the daemon opened no session');
    session.id = answer.sessionId;
    if (session.initialized !== undefined) await drain(await this.#send(session.initialized, signal));
    await this.#parts.write(JSON.stringify({ jsonrpc: '2.0', method: changed }));
  }

  #beginListening(initialized: McpMessage): void {
    if (this.#legacy === undefined || this.#legacy.initialized !== undefined) return;
    this.#legacy.initialized = initialized;
    void this.#listen();
  }

  /** Keeps the stream open on which the daemon speaks first, as long as there is a client. */
  async #listen(): Promise<void> {
    const { signal } = this.#closing;
    for (let pauseMs = firstPauseMs; !signal.aborted; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      try {
        const { headers } = this.#describe({ line: '', ids: [] });
        const answer = await this.#parts.exchange.send({ method: 'GET', headers, signal });
        if (answer.status === 401) return;
        if (answer.status === 200) {
          pauseMs = firstPauseMs;
          for await (const text of answer.messages) await this.#parts.write(JSON.stringify(JSON.parse(text)));
        } else {
          await drain(answer);
          if (answer.status === 404) await this.#reopen();
        }
      } catch {
        // The daemon is gone, or going: the next look will tell.
      }
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async #fail(ids: readonly (string | number | null)[], code: number, text: string): Promise<void> {
    for (const id of ids) {
      await this.#parts.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: text } }));
    }
  }
}

type Fields = Readonly<Record<string, unknown>>;

const lostAnswer =
  'The daemon ended before it answered. Whether the call had an effect is in its log: see `sallyport audit tail`.';

/** Undefined: no message of JSON-RPC, such as an error from before the MCP door. */
function parseAnswer(text: string): Fields | undefined {
  const parsed = JSON.parse(text) as Fields;
  return Array.isArray(parsed) || parsed['jsonrpc'] === '2.0' ? parsed : undefined;
}

function adapt(message: Fields, open: Set<string | number>, isRepeated: boolean): Fields {
  if (isRepeated && message['method'] === 'notifications/subscriptions/acknowledged') {
    // The client was told before that its subscription stands; what it knows may be old.
    return { ...message, method: changed };
  }
  if (message['id'] !== null || open.size === 0) return message;
  // An error that does not say which request it answers can only answer this one.
  const [id] = open;
  open.clear();
  return { ...message, id };
}

async function drain({ messages }: McpAnswer): Promise<void> {
  for await (const _ of messages) continue;
}
