import { isRefusal } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import type { Session } from '../call/session.ts';
import { authenticate } from '../sessions/authenticate.ts';
import type { Store } from '../storage/stores.ts';
import { rpcErrorOf } from './connect/present-answer.ts';
import { credentialOf } from './connect/read-call.ts';
import type { Peer } from './transport/peer.ts';

type TokenStore = Pick<Store, 'findSessionByToken'>;

/** Whose credential came with the headers of a request, or why nobody's. */
export function findCaller(store: TokenStore, peer: Peer): Session | Refusal {
  return authenticate(store, { door: peer.door, ...credentialOf(peer) }, Date.now());
}

/** The same for what only known callers may ask. Throws RpcError. */
export function checkCaller(store: TokenStore, peer: Peer): Session {
  const session = findCaller(store, peer);
  if (isRefusal(session)) throw rpcErrorOf(session);
  return session;
}
