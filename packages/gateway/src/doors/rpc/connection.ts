import type { IncomingHttpHeaders } from 'node:http';
import type { ConnectCode } from '@sallyport/contract';
import type { Door } from '../../model/call.ts';
import { Exchange } from './exchange.ts';
import { RpcError } from './rpc-error.ts';
import type { TransportLimits } from './transport-limits.ts';

/** One accepted socket and the exchanges open on it. */
export class Connection {
  readonly door: Door;
  readonly source: string;
  readonly limits: TransportLimits;
  /** The doors close: what is open is finished, and nothing more is begun. */
  stopping = false;
  /** Ends the socket once what was written has gone out; called when the doors close and nothing is open any more. */
  readonly #hangUp: () => void;
  readonly #exchanges = new Set<Exchange>();

  constructor(door: Door, source: string, limits: TransportLimits, hangUp: () => void) {
    this.door = door;
    this.source = source;
    this.limits = limits;
    this.#hangUp = hangUp;
  }

  get idle(): boolean {
    return this.#exchanges.size === 0;
  }

  /** Throws RpcError when the connection takes no further request. */
  open(headers: IncomingHttpHeaders, timeoutMs: number | undefined): Exchange {
    if (this.stopping) throw new RpcError('unavailable', 'Sallyport is stopping.');
    if (this.#exchanges.size >= this.limits.maxExchangesPerConnection) {
      throw new RpcError('resource_exhausted', 'Too many requests are open on this connection.');
    }
    const exchange = new Exchange(this, headers, timeoutMs);
    this.#exchanges.add(exchange);
    return exchange;
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
