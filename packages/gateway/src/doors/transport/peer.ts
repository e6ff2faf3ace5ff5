import type { Door } from '../../call/call.ts';
import type { AbortLike } from '../../call/cancellation.ts';
import type { BodyLimits, BodySource } from './read-body.ts';
import type { RpcError } from './rpc-error.ts';

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
  readonly cancellation: AbortLike;
  /** The same, for those who take nothing else than a signal. */
  readonly signal: AbortSignal;
  /** Aborts the signal: the caller has said, in another request, that it wants no answer to this one. */
  cancel(): void;
  /** When the caller stops waiting, in Unix milliseconds. Undefined: never. */
  readonly deadlineMs: number | undefined;
  /**
   * The whole body of the request. What is large is read only for a caller who is known, and once there is room for it,
   * which it keeps until the request is answered. Throws RpcError.
   */
  readBody(source: BodySource, limits: ReadLimits): Promise<Buffer>;
  /** Says which credential the message itself brought: from now on the connection counts as one of its session. */
  recognise(credential: string): void;
  /** Gives back the room of a message that came in a stream. Without it the message keeps it until the stream ends. */
  letGo(message: object): void;
}

export interface ReadLimits extends Pick<BodyLimits, 'maxBytes' | 'timeoutMs' | 'inspect'> {
  /** The header. Absent: the length is not known before the body is read. */
  readonly contentLength?: string | undefined;
  /** Finds a credential in the first bytes of the message. Absent: it is in the headers or nowhere. */
  readonly findToken?: (start: Buffer) => string | undefined;
}

/** What the transport asks about credentials. It decides nothing by that but who gets how much of the machine. */
export interface Callers {
  /** The session behind a credential at a door. Undefined: it is not accepted there, or no longer. */
  readonly identify: (door: Door, credential: string | undefined) => string | undefined;
  /** For a request without a credential that is too large to be looked at: the answer, once the attempt is on record. */
  readonly refuse: (peer: Peer) => Promise<RpcError>;
}
