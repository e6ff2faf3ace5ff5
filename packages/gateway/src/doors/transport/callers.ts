import type { Door } from '../../call/call.ts';
import type { Peer } from './peer.ts';
import type { RpcError } from './rpc-error.ts';

/** What the transport asks about credentials. It decides nothing by that but who gets how much of the machine. */
export interface Callers {
  /** The session behind a credential at a door. Undefined: it is not accepted there, or no longer. */
  readonly identify: (door: Door, credential: string | undefined) => string | undefined;
  /** For a request without a credential that is too large to be looked at: the answer, once the attempt is on record. */
  readonly refuse: (peer: Peer) => Promise<RpcError>;
}

/** The token of an `Authorization` header. */
export function bearerOf(header: string | undefined): string | undefined {
  return header !== undefined && /^bearer /i.test(header) ? header.slice('bearer '.length).trim() : undefined;
}
