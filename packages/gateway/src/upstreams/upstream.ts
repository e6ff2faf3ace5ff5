import type { CallToolResult, Progress } from '@modelcontextprotocol/client';
import type { JsonObject } from '@sallyport/contract';
import type { NetworkEvent } from '@sallyport/sandbox';
import { ProgramNotStarted } from '@sallyport/sandbox';
import type { Withheld } from '../programs/leavings/set-aside-forbidden.ts';
import { orAborted } from '../call/cancellation.ts';
import { ToolFailure } from '../call/tool.ts';
import type { TroubledUpstream } from './describe-trouble.ts';
import { LoginNeeded } from './login/login-needed.ts';
import type { LoginParts, PersonLogin } from './login/person-login.ts';
import type { TransportParts } from './transport/open-transport.ts';
import { RequestDesk } from './requests/request-desk.ts';
import type { AskableCall, DeskParts } from './requests/request-desk.ts';
import { RunningCalls } from './running-calls.ts';
import type { Onlooker, OnUsage } from './running-calls.ts';
import type { UpstreamConfig } from './upstream-config.ts';
import type {
  ConnectionCall,
  ProtocolEra,
  ServerFacts,
  ServerOffers,
  UpstreamConnection,
} from './upstream-connection.ts';
import { UpstreamHealth } from './upstream-health.ts';

export const upstreamStates = ['idle', 'connecting', 'connected', 'waiting', 'needs login'] as const;
/**
 * `waiting`: it could not be reached, and is not tried again before a pause is over. `needs login`: it is not tried
 * again before a person has logged in.
 */
export type UpstreamState = (typeof upstreamStates)[number];

export interface UpstreamParts extends TransportParts, LoginParts, DeskParts {
  /** The server listed its tools. */
  readonly onTools: () => void;
  readonly onTrouble: (upstream: string, reason: string) => void;
  /** What a server asked of the network while no call ran there. */
  readonly onNetwork: (upstream: string, events: readonly NetworkEvent[]) => void;
  /** What a server left under names that the rules forbid was renamed, or could not be. */
  readonly onWithheld: (upstream: string, withheld: Withheld) => void;
  /** A server no longer accepts the login of a person. */
  readonly onLoginLost: (upstream: string, reason: string) => void;
}

export interface CallOptions extends AskableCall, Onlooker {
  readonly timeoutMs: number;
  readonly onProgress: (progress: Progress) => void;
  readonly onUsage: OnUsage;
  /** The span of the call, for the server. Absent: nobody follows the trace. */
  readonly traceparent?: string | undefined;
  /** Called when the server is there and has listed its tools, before it is asked. May throw. */
  readonly confirm: () => void;
}

const connectWithinMs = 30_000;
/** A connection that lasted this long was a success. */
const steadyMs = 10_000;

/** Not loaded by a daemon that has no upstream server. */
const loadProtocol = () => import('./protocol.ts');
type Protocol = Awaited<ReturnType<typeof loadProtocol>>;

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
  /** It sees an earlier state of its folders, and other programs may wait for it to leave them. */
  #isOutdated = false;
  readonly #health: UpstreamHealth;
  #idle: NodeJS.Timeout | undefined;
  readonly #desk: RequestDesk;
  readonly #calls = new RunningCalls();
  #login: PersonLogin | undefined;
  #loginUrl: URL | undefined;
  #server: ServerFacts | undefined;
  #offers: ServerOffers | undefined;

  constructor(config: UpstreamConfig, parts: UpstreamParts) {
    this.config = config;
    this.#parts = parts;
    this.#desk = new RequestDesk(config, parts);
    this.#health = new UpstreamHealth(config.name, () => void this.connect().catch(() => undefined));
  }

  get state(): UpstreamState {
    if (this.#connection !== undefined) return 'connected';
    if (this.#connecting !== undefined) return 'connecting';
    if (this.#health.loginNeeded !== undefined) return 'needs login';
    return this.#health.isPaused ? 'waiting' : 'idle';
  }

  /** Why it was not reached the last time. Empty: it was. */
  get trouble(): string {
    return this.#health.trouble;
  }

  /** The login of a person there. Undefined: there is none, or nobody has looked yet. */
  get login(): PersonLogin['current'] {
    return this.#login?.current;
  }

  /** The page that a person must open for the current login. Undefined: there is none. */
  get loginUrl(): URL | undefined {
    return this.#loginUrl;
  }

  get server(): ServerFacts | undefined {
    return this.#server;
  }

  /** As listed the last time, another object each time. Undefined: never yet. */
  get offers(): ServerOffers | undefined {
    return this.#offers;
  }

  /** Connects unless it is connected. Resolves when it is, or rejects with ToolFailure. */
  async connect(): Promise<void> {
    await this.#ready();
  }

  /** Tries at once, whatever happened before. */
  async reconnect(): Promise<void> {
    this.#health.endPause();
    await this.connect();
    const { signal } = this.#closing;
    if (this.#connection !== undefined) await this.#list(this.#connection, signal);
  }

  /** Throws ToolFailure, also for what the server answers as its own error; what `confirm` throws passes through. */
  call(tool: string, args: JsonObject, options: CallOptions): Promise<CallToolResult> {
    return this.request((connection, how) => connection.callTool(tool, args, how), options);
  }

  /** The same for anything else that is asked of the server. */
  async request<Result>(
    send: (connection: UpstreamConnection, how: ConnectionCall) => Promise<Result>,
    options: CallOptions,
  ): Promise<Result> {
    const answer = this.#desk.enter(options);
    clearTimeout(this.#idle);
    this.#calls.begin(options);
    let connection: UpstreamConnection | undefined;
    try {
      connection = this.#connection ?? (await orAborted(this.#ready(), options.signal));
      const tellUsage = this.#calls.areSeveral
        ? undefined
        : await orAborted(this.#calls.meter(connection), options.signal);
      options.confirm();
      const calling = send(connection, { ...options, answer });
      const result = await (tellUsage === undefined
        ? calling
        : orAborted(
            thenAlways(calling, () => tellUsage(options.onUsage)),
            options.signal,
          ));
      this.#health.noteSuccess();
      return result;
    } catch (error) {
      if (options.signal.aborted) throw options.signal.reason;
      const { describeTrouble } = await loadProtocol();
      const trouble = describeTrouble(this.#troubled, error, connection?.failure);
      // The next call must not use a dead connection, and other callers that wait there get the error.
      if (trouble.isLost && connection !== undefined) this.#drop(connection, trouble.failure);
      throw trouble.failure;
    } finally {
      this.#calls.end();
      await connection?.sweep();
      this.#desk.leave(answer);
      this.#calls.leave(options);
      this.#watchIdleness();
    }
  }

  /**
   * Lets a person log in, then connects again. `onUrl` gets the page that the person must open. Throws ToolFailure, or
   * the reason of the signal.
   */
  async logIn(options: Parameters<PersonLogin['begin']>[0]): Promise<void> {
    const { name } = this.config;
    const login = await this.#openLogin();
    if (login === undefined) {
      throw new ToolFailure('EXECUTION_ERROR', `No person logs in at the upstream server ${name}: its file says how.`);
    }
    // The server says what it needs when it refuses a request.
    if (this.#health.loginNeeded === undefined && login.current === undefined) {
      await orAborted(this.connect(), options.signal).catch(() => options.signal.throwIfAborted());
      if (this.#health.loginNeeded === undefined) {
        const why = this.trouble === '' ? 'does not ask for a login' : `cannot be asked for a login: ${this.trouble}`;
        throw new ToolFailure('EXECUTION_ERROR', `The upstream server ${name} ${why}.`);
      }
    }
    const onUrl = (url: URL): void => {
      this.#loginUrl = url;
      options.onUrl(url);
    };
    await login.begin({ ...options, onUrl }).finally(() => (this.#loginUrl = undefined));
    if (this.#desk.isIdle) this.#rest();
    await this.reconnect();
  }

  /** Forgets the login of a person and leaves the server. False: there was none. */
  async logOut(): Promise<boolean> {
    const login = await this.#openLogin();
    if (login?.current === undefined) return false;
    await login.forget();
    const why = new LoginNeeded(this.config.name, 'was logged out');
    if (this.#connection === undefined) this.#pause(why);
    else this.#drop(this.#connection, why);
    return true;
  }

  /** For good. Resolves when nothing of the server is left. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#login?.close();
    this.#health.stopRetry();
    clearTimeout(this.#idle);
    const connection = this.#connection ?? (await this.#connecting?.catch(() => undefined));
    this.#connection = undefined;
    await connection?.close();
    await this.#ending;
  }

  async #ready(): Promise<UpstreamConnection> {
    if (this.#connection !== undefined) return this.#connection;
    const { name } = this.config;
    if (this.#health.loginNeeded !== undefined) throw this.#health.loginNeeded;
    if (this.#closing.signal.aborted) throw new ToolFailure('UPSTREAM_UNAVAILABLE', `${name} was removed.`);
    if (this.#connecting === undefined) this.#health.checkPause();
    this.#connecting ??= this.#open().finally(() => (this.#connecting = undefined));
    return this.#connecting;
  }

  async #open(): Promise<UpstreamConnection> {
    this.#health.stopRetry();
    await this.#ending;
    const protocol = await loadProtocol();
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(connectWithinMs)]);
    let connection: UpstreamConnection | undefined;
    let isOutdated = false;
    const openedAtMs = performance.now();
    const leave = (): void => {
      if (connection === undefined || this.#connection !== connection) return;
      if (performance.now() - openedAtMs > steadyMs) this.#health.noteSuccess();
      this.#drop(connection, connection.failure ?? new Error('the server closed the connection'));
    };
    try {
      const login = await this.#openLogin();
      const options = {
        signal,
        onBroken: leave,
        onNetwork: this.#noteNetwork,
        onWithheld: this.#noteWithheld,
        onOutdated: () => {
          isOutdated = true;
          if (connection === undefined || this.#connection !== connection) return;
          this.#isOutdated = true;
          this.#watchIdleness();
        },
        ...(login === undefined ? {} : { login }),
      };
      const transport = await protocol.openTransport(this.config, this.#parts, options);
      connection = await protocol.UpstreamConnection.open(transport, {
        ...{ era: this.#era, version: this.#parts.version, mayAsk: this.config.mayAsk, signal },
        onToolsChanged: () => connection && void this.#list(connection, this.#closing.signal).catch(() => undefined),
        answer: this.#desk.answer,
        onUnknownRequest: this.#desk.refuseUnknown,
        onClose: leave,
      });
      await this.#list(connection, signal);
      signal.throwIfAborted();
      if (connection.failure !== undefined) throw connection.failure;
    } catch (error) {
      if (connection !== undefined) await connection.close();
      const reason: unknown = signal.aborted ? signal.reason : error;
      const { failure: described } = protocol.describeTrouble(this.#troubled, reason, connection?.failure);
      const hasStarted = connection !== undefined;
      const failure = hasStarted ? described : this.#explainStart(protocol, reason, described);
      // Some servers end when they are asked for the newer protocol.
      const isUnderstood = hasStarted || failure instanceof LoginNeeded;
      if (!isUnderstood) this.#era = this.#era === 'auto' ? 'legacy' : 'auto';
      this.#health.noteUnconnected(failure);
      this.#pause(failure);
      throw failure;
    }
    this.#health.noteConnected();
    this.#connection = connection;
    this.#server = connection.server;
    this.#isOutdated = isOutdated;
    this.#watchIdleness();
    return connection;
  }

  /** Only operators learn what prevents the start; callers learn that something does. */
  #explainStart(protocol: Protocol, error: unknown, otherwise: Error): Error {
    if (!(error instanceof ProgramNotStarted) || error.isTransient) return otherwise;
    const { name } = this.config;
    this.#health.noteStartTrouble(protocol.explainStart(this.config, error, this.#parts));
    const text = `The upstream server ${name} does not start. An operator can see why.`;
    return new ToolFailure('UPSTREAM_FAILED', text, {
      cause: error,
      forOperators: '`sallyport upstream list` shows the state of the servers.',
    });
  }

  get #troubled(): TroubledUpstream {
    const { redact } = this.#parts;
    return { name: this.config.name, redact, ...(this.#login === undefined ? {} : { login: this.#login }) };
  }

  /** Undefined: no person logs in at this server. */
  async #openLogin(): Promise<PersonLogin | undefined> {
    const { name, endpoint } = this.config;
    if (endpoint.kind !== 'http' || endpoint.bearerSecret !== undefined) return undefined;
    if (endpoint.oauth?.grant === 'client_credentials') return undefined;
    const { PersonLogin: Login } = await loadProtocol();
    this.#login ??= new Login(name, endpoint, this.#parts);
    return this.#login;
  }

  async #list(connection: UpstreamConnection, signal: AbortSignal): Promise<void> {
    this.#offers = await connection.listOffers(signal);
    this.#parts.onTools();
  }

  readonly #noteNetwork: Onlooker['onNetwork'] = (events) => {
    if (!this.#calls.noteNetwork(events)) this.#parts.onNetwork(this.config.name, events);
  };

  readonly #noteWithheld: Onlooker['onWithheld'] = (withheld) => {
    this.#calls.noteWithheld(withheld);
    this.#parts.onWithheld(this.config.name, withheld);
  };

  #drop(connection: UpstreamConnection, why: Error): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    this.#ending = connection.close();
    if (!this.#closing.signal.aborted) this.#pause(why);
  }

  #pause(why: Error): void {
    if (this.#closing.signal.aborted) return;
    this.#health.pause(why);
    const { trouble } = this.#health;
    this.#parts.onTrouble(this.config.name, trouble);
    const isLoginLost = why instanceof LoginNeeded && this.#login?.current !== undefined;
    if (isLoginLost) this.#parts.onLoginLost(this.config.name, trouble);
  }

  #watchIdleness(): void {
    clearTimeout(this.#idle);
    if (!this.#desk.isIdle || this.#connection === undefined) return;
    // The next call gets a server that sees its folders as they are.
    if (this.#isOutdated) this.#rest();
    else this.#idle = setTimeout(() => this.#rest(), this.config.idleMs).unref();
  }

  #rest(): void {
    const connection = this.#connection;
    if (!this.#desk.isIdle || connection === undefined) return;
    this.#connection = undefined;
    this.#ending = connection.close();
  }
}

/** Settles like the promise, but only after `follow`. */
async function thenAlways<Value>(promise: Promise<Value>, follow: () => Promise<void>): Promise<Value> {
  try {
    return await promise;
  } finally {
    await follow();
  }
}
