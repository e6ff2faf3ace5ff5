import type { CallToolResult, Progress, Tool } from '@modelcontextprotocol/client';
import type { JsonObject } from '@sallyport/contract';
import { ToolFailure } from '../model/tool.ts';
import { describeTrouble } from './describe-trouble.ts';
import { openTransport } from './open-transport.ts';
import type { TransportParts } from './open-transport.ts';
import type { UpstreamConfig } from './upstream-config.ts';
import { UpstreamConnection } from './upstream-connection.ts';
import type { ProtocolEra, ServerFacts } from './upstream-connection.ts';

export const upstreamStates = ['idle', 'connecting', 'connected', 'waiting'] as const;
/** `waiting`: it could not be reached, and is not tried again before a pause is over. */
export type UpstreamState = (typeof upstreamStates)[number];

export interface UpstreamParts extends TransportParts {
  readonly version: string;
  /** The server listed its tools. */
  readonly onTools: () => void;
  readonly onRefusedRequest: (upstream: string, method: string) => void;
  readonly onTrouble: (upstream: string, reason: string) => void;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly onProgress: (progress: Progress) => void;
  /** Called when the server is there and has listed its tools, before it is asked. May throw. */
  readonly confirm: () => void;
}

const connectWithinMs = 30_000;
const firstPauseMs = 500;
const longestPauseMs = 60_000;
/** A connection that lasted so long was a success. */
const steadyMs = 10_000;

/**
 * One upstream server over its whole life: connected when it is needed, left when it is idle, tried again with growing
 * pauses when it fails. During a pause calls fail at once instead of waiting for it.
 */
export class Upstream {
  readonly config: UpstreamConfig;
  readonly #parts: UpstreamParts;
  readonly #closing = new AbortController();
  #connection: UpstreamConnection | undefined;
  #connecting: Promise<UpstreamConnection> | undefined;
  /** The end of the one before: two processes of one server never run at once. */
  #ending: Promise<void> = Promise.resolve();
  #era: ProtocolEra = 'auto';
  #failures = 0;
  #retryAtMs = 0;
  #retry: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  #running = 0;
  #trouble = '';
  #server: ServerFacts | undefined;
  #tools: readonly Tool[] | undefined;

  constructor(config: UpstreamConfig, parts: UpstreamParts) {
    this.config = config;
    this.#parts = parts;
  }

  get state(): UpstreamState {
    if (this.#connection !== undefined) return 'connected';
    if (this.#connecting !== undefined) return 'connecting';
    return this.#retryAtMs > Date.now() ? 'waiting' : 'idle';
  }

  /** Why it could not be reached the last time. Empty: it could. */
  get trouble(): string {
    return this.#trouble;
  }

  get server(): ServerFacts | undefined {
    return this.#server;
  }

  /** As listed the last time. Undefined: never yet. */
  get tools(): readonly Tool[] | undefined {
    return this.#tools;
  }

  /** Connects unless it is connected. Resolves when it is, or rejects with ToolFailure. */
  async connect(): Promise<void> {
    await this.#ready();
  }

  /** Tries at once, whatever happened before. */
  async reconnect(): Promise<void> {
    this.#retryAtMs = 0;
    await this.connect();
    const { signal } = this.#closing;
    if (this.#connection !== undefined) await this.#list(this.#connection, signal);
  }

  /** Throws ToolFailure, also for what the server answers as its own error; what `confirm` throws passes through. */
  async call(tool: string, args: JsonObject, options: CallOptions): Promise<CallToolResult> {
    this.#running += 1;
    clearTimeout(this.#idle);
    let connection: UpstreamConnection | undefined;
    try {
      connection = await orAborted(this.#ready(), options.signal);
      options.confirm();
      const result = await orAborted(connection.callTool(tool, args, options), options.signal);
      this.#failures = 0;
      return result;
    } catch (error) {
      options.signal.throwIfAborted();
      const trouble = describeTrouble(this.config.name, error, connection?.failure);
      // The next call should not ask where nobody answers; the others that wait there are told.
      if (trouble.isLost && connection !== undefined) this.#drop(connection, trouble.failure);
      if (trouble.isAsking === true) this.#parts.onRefusedRequest(this.config.name, 'input_required');
      throw trouble.failure;
    } finally {
      this.#running -= 1;
      this.#watchIdleness();
    }
  }

  /** For good. Resolves when nothing of the server is left. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#retry);
    clearTimeout(this.#idle);
    const connection = this.#connection ?? (await this.#connecting?.catch(() => undefined));
    this.#connection = undefined;
    await connection?.close();
    await this.#ending;
  }

  async #ready(): Promise<UpstreamConnection> {
    if (this.#connection !== undefined) return this.#connection;
    const { name } = this.config;
    if (this.#closing.signal.aborted) throw new ToolFailure('UPSTREAM_UNAVAILABLE', `${name} was removed.`);
    const pauseMs = this.#retryAtMs - Date.now();
    if (this.#connecting === undefined && pauseMs > 0) {
      const seconds = Math.ceil(pauseMs / 1000);
      throw new ToolFailure(
        'UPSTREAM_UNAVAILABLE',
        `The upstream server ${name} cannot be reached: ${this.#trouble}. It is tried again in ${seconds} s.`,
      );
    }
    this.#connecting ??= this.#open().finally(() => (this.#connecting = undefined));
    return this.#connecting;
  }

  async #open(): Promise<UpstreamConnection> {
    clearTimeout(this.#retry);
    await this.#ending;
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(connectWithinMs)]);
    let connection: UpstreamConnection | undefined;
    const openedAtMs = Date.now();
    const leave = (): void => {
      if (connection === undefined || this.#connection !== connection) return;
      if (Date.now() - openedAtMs > steadyMs) this.#failures = 0;
      this.#drop(connection, connection.failure ?? new Error('the server closed the connection'));
    };
    try {
      const transport = await openTransport(this.config, this.#parts, { signal, onBroken: leave });
      connection = await UpstreamConnection.open(transport, {
        ...{ era: this.#era, version: this.#parts.version, signal },
        onToolsChanged: () => connection && void this.#list(connection, this.#closing.signal).catch(() => undefined),
        onRefusedRequest: (method) => this.#parts.onRefusedRequest(this.config.name, method),
        onClose: leave,
      });
      await this.#list(connection, signal);
      signal.throwIfAborted();
      if (connection.failure !== undefined) throw connection.failure;
    } catch (error) {
      if (connection !== undefined) await connection.close();
      // Some servers do not survive being asked for the newer protocol.
      if (connection === undefined) this.#era = this.#era === 'auto' ? 'legacy' : 'auto';
      const reason: unknown = signal.aborted ? signal.reason : error;
      const { failure } = describeTrouble(this.config.name, reason, connection?.failure);
      this.#pause(failure);
      throw failure;
    }
    this.#connection = connection;
    this.#server = connection.server;
    this.#trouble = '';
    this.#watchIdleness();
    return connection;
  }

  async #list(connection: UpstreamConnection, signal: AbortSignal): Promise<void> {
    this.#tools = await connection.listTools(signal);
    this.#parts.onTools();
  }

  #drop(connection: UpstreamConnection, why: Error): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    this.#ending = connection.close();
    if (!this.#closing.signal.aborted) this.#pause(why);
  }

  #pause(why: Error): void {
    if (this.#closing.signal.aborted) return;
    this.#failures += 1;
    const pauseMs = Math.min(firstPauseMs * 2 ** (this.#failures - 1), longestPauseMs);
    this.#retryAtMs = Date.now() + pauseMs;
    this.#trouble = why.message;
    this.#parts.onTrouble(this.config.name, why.message);
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.connect().catch(() => undefined), pauseMs + 10).unref();
  }

  #watchIdleness(): void {
    clearTimeout(this.#idle);
    if (this.#running > 0 || this.#connection === undefined) return;
    this.#idle = setTimeout(() => this.#rest(), this.config.idleMs).unref();
  }

  #rest(): void {
    const connection = this.#connection;
    if (this.#running > 0 || connection === undefined) return;
    this.#connection = undefined;
    this.#ending = connection.close();
  }
}

/** Rejects with the reason of the signal at once, whatever the promise does. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  promise.catch(() => undefined);
  const { promise: settled, resolve, reject } = Promise.withResolvers<T>();
  const abort = (): void => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  promise.then(resolve, reject);
  return settled.finally(() => signal.removeEventListener('abort', abort));
}
