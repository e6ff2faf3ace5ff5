import type { IncomingHttpHeaders } from 'node:http';
import type { ConnectCode } from '@sallyport/contract';
import type { Door } from '../../call/call.ts';
import { bearerOf, Exchange } from './exchange.ts';
import type { DoorContext } from './door-context.ts';
import { RpcError } from './rpc-error.ts';

export interface ConnectionParts {
  readonly door: Door;
  readonly source: string;
  readonly context: DoorContext;
  /** Ends the socket once what was written has gone out; called when the doors close and nothing is open any more. */
  readonly hangUp: () => void;
  /** Hears whose credential was presented. */
  readonly onRecognised: (owner: string) => void;
}

/** One accepted socket and the exchanges open on it. */
export class Connection {
  readonly door: Door;
  readonly source: string;
  readonly context: DoorContext;
  /** The doors close: what is open is finished, and nothing more is begun. */
  stopping = false;
  readonly #hangUp: () => void;
  readonly #onRecognised: (owner: string) => void;
  readonly #exchanges = new Set<Exchange>();
  /** The last one that was accepted: most connections present the same one with every request. */
  #credential: string | undefined;

  constructor({ door, source, context, hangUp, onRecognised }: ConnectionParts) {
    this.door = door;
    this.source = source;
    this.context = context;
    this.#hangUp = hangUp;
    this.#onRecognised = onRecognised;
  }

  /** Whether a credential was accepted on it. */
  get isKnown(): boolean {
    return this.#credential !== undefined;
  }

  get idle(): boolean {
    return this.#exchanges.size === 0;
  }

  /** Throws RpcError when the connection takes no further request. */
  open(headers: IncomingHttpHeaders, timeoutMs: number | undefined): Exchange {
    if (this.stopping) throw new RpcError('unavailable', 'Sallyport is stopping.');
    if (this.#exchanges.size >= this.context.limits.maxExchangesPerConnection) {
      throw new RpcError('resource_exhausted', 'Too many requests are open on this connection.');
    }
    this.recognise(bearerOf(headers.authorization));
    const exchange = new Exchange(this, headers, timeoutMs);
    this.#exchanges.add(exchange);
    return exchange;
  }

  recognise(credential: string | undefined): void {
    if (credential === undefined || credential === this.#credential) return;
    const owner = this.context.callers.identify(this.door, credential);
    if (owner === undefined) return;
    this.#credential = credential;
    this.#onRecognised(owner);
  }

  forget(exchange: Exchange): void {
    this.#exchanges.delete(exchange);
    if (this.stopping && this.idle) this.#hangUp();
  }

  /** Takes no further request and ends when the open ones are answered. */
  stop(): void {
    this.stopping = true;
    for (const exchange of this.#exchanges) exchange.onStop?.();
    if (this.idle) this.#hangUp();
  }

  abort(code: ConnectCode, message: string): void {
    for (const exchange of this.#exchanges) exchange.abort(code, message);
  }
}
