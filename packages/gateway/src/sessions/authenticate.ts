import { hash } from 'node:crypto';
import type { Door } from '../call/call.ts';
import { refuse } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import { firstOperator } from '../call/session.ts';
import type { Session } from '../call/session.ts';
import type { Store } from '../storage/stores.ts';

/** The session of a credential, at a door, now; or why not. Unknown and absent credentials get the same answer. */
export function authenticate(
  store: Pick<Store, 'findSessionByToken'>,
  caller: { readonly credential?: string | undefined; readonly door: Door },
  nowMs: number,
): Session | Refusal {
  const { credential, door } = caller;
  // The token is random, so its digest can be looked up: a timing difference tells nothing about any token.
  const session = credential ? store.findSessionByToken(hash('sha256', credential)) : undefined;
  if (session === undefined) {
    return refuse('UNAUTHENTICATED', 'credential', 'No valid credential was presented.', {
      remedy: 'Present the token of a live session as `Authorization: Bearer …`; an operator gives it to you.',
    });
  }
  if (!isAccepted(session, door)) {
    const message = `The credential of an ${session.principal} is not accepted at this door.`;
    return refuse('WRONG_DOOR', 'credential', message, nameDoors(session));
  }
  return sessionRefusal(session, nowMs) ?? session;
}

function isAccepted(session: Session, at: Door): boolean {
  if (session.door !== undefined) return session.door === at;
  if (session.principal === 'agent') return at !== 'operator-socket';
  return at === 'operator-socket' || (at === 'tcp' && !isFirst(session));
}

/**
 * Their credential is in the home of the daemon. A user who can read it there can also use the socket, so the port does
 * not accept it.
 */
function isFirst({ agent }: Session): boolean {
  return agent === firstOperator;
}

/** Where the credential is accepted, and how to get there. */
function nameDoors(session: Session): Pick<Refusal, 'remedy' | 'forOperators'> {
  if (session.principal === 'agent') return { remedy: 'Agents use the agent socket or TCP.' };
  if (session.door !== undefined) return { remedy: 'Use the session of a console only at the address of the console.' };
  if (!isFirst(session)) {
    const remedy =
      'People use the operator socket, or TCP: put the credential in a file, name the file with ' +
      'SALLYPORT_CREDENTIAL_FILE and the address with SALLYPORT_ADDRESS.';
    return { remedy };
  }
  const socket = 'The first operator uses the operator socket, as the user who runs the daemon.';
  const forOperators = `${socket} \`sallyport person add\` gives another person their own credential, which is also accepted over TCP.`;
  return { remedy: socket, forOperators };
}

/** What to do when a session is over. */
export const askForSession = {
  remedy: 'Ask the operator for a new session.',
  forOperators: '`sallyport session create` makes a new one.',
} as const;

/** Why a session can no longer be used. */
export function sessionRefusal(session: Session, nowMs: number): Refusal | undefined {
  if (session.status === 'quarantined') {
    return refuse('SESSION_QUARANTINED', 'session', 'The session is in quarantine: it broke the rules too often.', {
      remedy: 'Stop, and tell the operator.',
      forOperators: '`sallyport audit tail` shows why. A new session lets the agent in again.',
    });
  }
  if (session.status === 'ended') {
    return refuse('SESSION_ENDED', 'session', 'The session was ended.', askForSession);
  }
  if (session.expiresAtMs !== undefined && session.expiresAtMs <= nowMs) {
    return refuse('SESSION_EXPIRED', 'session', 'The session has expired.', askForSession);
  }
  return undefined;
}
