import type { Door } from '../../model/call.ts';

/** The other end of one request, as far as the transport can tell. Nothing in it is proof of who that is. */
export interface Peer {
  readonly door: Door;
  /** The remote address without its port, or `unix:operator` and `unix:agent`. */
  readonly source: string;
  /** A request header, by its name in lower case. */
  headers(name: string): string | undefined;
  /**
   * Aborts when the caller cancels, goes away or runs out of time, and when the daemon stops before the answer is
   * ready. The reason is an RpcError.
   */
  readonly signal: AbortSignal;
  /** When the caller stops waiting, in Unix milliseconds. Undefined: never. */
  readonly deadlineMs: number | undefined;
}
