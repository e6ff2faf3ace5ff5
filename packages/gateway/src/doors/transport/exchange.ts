import type { IncomingHttpHeaders } from 'node:http';
import type { ConnectCode } from '@sallyport/contract';
import type { Door } from '../../call/call.ts';
import { Cancellation } from '../../call/cancellation.ts';
import type { Connection } from './connection.ts';
import type { RoomTicket, SmallOwner } from './body-room.ts';
import type { Peer, ReadLimits } from './peer.ts';
import { harmlessBytes, readBody, readClaimedLength } from './read-body.ts';
import type { BodySource } from './read-body.ts';
import { RpcError } from './rpc-error.ts';
import type { Incoming } from './door-context.ts';

/** One request and its answer, on whatever protocol. Opened by its connection; `end` must be called once. */
export class Exchange implements Peer {
  readonly door: Door;
  readonly source: string;
  readonly deadlineMs: number | undefined;
  /** Streams say here how they come to an end when the doors close. Undefined: the answer is waited for. */
  onStop: (() => void) | undefined;

  readonly #connection: Connection;
  readonly #headers: IncomingHttpHeaders;
  readonly #timeoutMs: number | undefined;
  readonly cancellation = new Cancellation();
  #timer: NodeJS.Timeout | undefined;
  #ended = false;
  /** Gives back what messages hold. Undefined: none of them is large. */
  #held: Map<object, () => void> | undefined;

  constructor(connection: Connection, headers: IncomingHttpHeaders, timeoutMs: number | undefined) {
    this.door = connection.door;
    this.source = connection.source;
    this.deadlineMs = timeoutMs === undefined ? undefined : Date.now() + timeoutMs;
    this.#connection = connection;
    this.#headers = headers;
    this.#timeoutMs = timeoutMs;
  }

  headers(name: string): string | undefined {
    const value = this.#headers[name];
    return typeof value === 'string' ? value : undefined;
  }

  recognise(credential: string): void {
    this.#connection.recognise(credential);
  }

  async readBody(source: BodySource, limits: ReadLimits): Promise<Buffer> {
    const { maxBytes, contentLength, findToken, ...more } = limits;
    const claimedBytes = readClaimedLength(contentLength, maxBytes);
    // Nobody need send the rest to hear that it is not wanted.
    if (findToken === undefined && (claimedBytes ?? 0) > harmlessBytes) await this.identify(undefined);
    return readBody(source, {
      ...more,
      maxBytes,
      claimedBytes,
      room: this.#connection.context.room,
      smallOwner: this.smallOwner,
      identify: (start) => this.identify(findToken?.(start)),
      hold: (release) => this.hold(source, release),
    });
  }

  get smallOwner(): SmallOwner {
    return this.#connection.isKnown ? 'known' : 'stranger';
  }

  /** The session whose credential came with the headers, or in the message. Rejects with the answer for strangers. */
  async identify(token: string | undefined): Promise<string> {
    const { callers } = this.#connection.context;
    for (const credential of [bearerOf(this.headers('authorization')), token]) {
      const owner = callers.identify(this.door, credential);
      if (owner !== undefined) return owner;
    }
    throw await callers.refuse(this);
  }

  async takeRoom(bytes: number, token: string | undefined): Promise<RoomTicket> {
    const ticket = this.#connection.context.room.open(await this.identify(token));
    await ticket.grow(bytes);
    return ticket;
  }

  /** `release` is called when the message is let go, or when the exchange ends. */
  hold(message: object, release: () => void): void {
    if (this.#ended) return release();
    this.#held ??= new Map();
    this.#held.set(message, release);
  }

  letGo(message: object): void {
    this.#held?.get(message)?.();
    this.#held?.delete(message);
  }

  get signal(): AbortSignal {
    return this.cancellation.signal;
  }

  /** Does nothing once the exchange has ended: what a finished handler left behind is not to be cancelled. */
  abort(code: ConnectCode, message: string): void {
    if (this.#ended || this.cancellation.aborted) return;
    this.cancellation.abort(new RpcError(code, message));
  }

  cancel(): void {
    this.abort('canceled', 'The caller cancelled the call.');
  }

  /**
   * The handler's answer. When the deadline passes the signal aborts, and a handler that heeds it still gives its own
   * answer; one that does not is left behind and the caller told `deadline_exceeded`.
   */
  settle<Answer>(answer: Promise<Answer>): Promise<Answer> {
    if (this.#timeoutMs === undefined) return answer;
    const late = Promise.withResolvers<never>();
    this.#timer = setTimeout(() => {
      this.abort('deadline_exceeded', 'The deadline of the caller has passed.');
      this.#timer = setTimeout(late.reject, this.#connection.context.limits.lateAnswerMs, this.cancellation.reason);
    }, this.#timeoutMs);
    return Promise.race([answer, late.promise]);
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    for (const release of this.#held?.values() ?? []) release();
    this.#held = undefined;
    this.#connection.forget(this);
  }
}

/** Opens the exchange of an HTTP request, so that it is aborted when the caller leaves. Throws RpcError. */
export function openExchange({ connection, request, response }: Incoming, timeoutMs: number | undefined): Exchange {
  const exchange = connection.open(request.headers, timeoutMs);
  // In HTTP/1.1 a caller leaves by closing the connection, which aborts all that is open on it.
  if (request.httpVersionMajor === 2) {
    response.on('close', () => exchange.abort('canceled', 'The caller cancelled the call.'));
  }
  return exchange;
}

/** The token of an `Authorization` header. */
export function bearerOf(header: string | undefined): string | undefined {
  return header !== undefined && /^bearer /i.test(header) ? header.slice('bearer '.length).trim() : undefined;
}
