import type { IncomingHttpHeaders } from 'node:http';
import type { ConnectCode } from '@sallyport/contract';
import type { Door } from '../../model/call.ts';
import type { Connection } from './connection.ts';
import type { Peer } from './peer.ts';
import { RpcError } from './rpc-error.ts';

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
  // Few handlers of cheap methods look at the signal, and a controller costs more than the rest of an exchange.
  #controller: AbortController | undefined;
  #abortReason: RpcError | undefined;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

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

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  /** Does nothing once the exchange has ended: what a finished handler left behind is not to be cancelled. */
  abort(code: ConnectCode, message: string): void {
    if (this.#ended || this.#abortReason !== undefined) return;
    this.#abortReason = new RpcError(code, message);
    this.#controller?.abort(this.#abortReason);
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
      this.#timer = setTimeout(late.reject, this.#connection.limits.lateAnswerMs, this.#abortReason);
    }, this.#timeoutMs);
    return Promise.race([answer, late.promise]);
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#connection.forget(this);
  }
}
