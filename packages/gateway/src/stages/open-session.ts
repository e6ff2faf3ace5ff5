import { hash } from 'node:crypto';
import type { Begun, Chained, Door, Opened } from '../model/call.ts';
import { refuse } from '../model/refusal.ts';
import type { Refusal } from '../model/refusal.ts';
import type { Session } from '../model/session.ts';
import type { RunningCalls } from '../modes/running-calls.ts';
import type { Stage } from '../pipeline/stage.ts';
import type { Store } from '../storage/stores.ts';

/** Finds the session behind the credential, or that of the call this one is a step of. Reaching a door grants nothing. */
export function openSession(
  store: Pick<Store, 'findSessionByToken' | 'findStanding'>,
  running?: Pick<RunningCalls, 'identify'>,
): Stage<Begun & Chained, Opened> {
  return {
    name: 'open-session',
    run: (call, context) => {
      const { step } = call;
      const nowMs = context.nowMs();
      const found = step === undefined ? authenticate(store, call, nowMs) : reopen(store, step.parent.sessionId, nowMs);
      if ('kind' in found) return found;
      running?.identify(call.callId, found);
      return { session: found };
    },
  };
}

/** Read anew for every step: its token is kept nowhere, and the session may have ended since the step before. */
function reopen(store: Pick<Store, 'findStanding'>, sessionId: string, nowMs: number): Session | Refusal {
  const session = store.findStanding(sessionId);
  if (session === undefined) {
    return refuse('SESSION_ENDED', 'session', 'The session is gone.', {
      remedy: 'Ask the operator for a new session.',
    });
  }
  return sessionRefusal(session, nowMs) ?? session;
}

/** The session of a credential, at a door, now; or why not. Unknown and absent credentials answer alike. */
export function authenticate(
  store: Pick<Store, 'findSessionByToken'>,
  caller: { readonly credential?: string; readonly door: Door },
  nowMs: number,
): Session | Refusal {
  const { credential, door } = caller;
  // The token is random, so its digest can be looked up: a timing difference tells nothing about any token.
  const session = credential ? store.findSessionByToken(hash('sha256', credential)) : undefined;
  if (session === undefined) {
    return refuse('UNAUTHENTICATED', 'credential', 'No valid credential was presented.', {
      remedy: 'Present the token of a live session as `Authorization: Bearer …`; an operator hands it out.',
    });
  }
  if (!isAccepted(session, door)) {
    return refuse(
      'WRONG_DOOR',
      'credential',
      `The credential of an ${session.principal} is not accepted at this door.`,
      {
        remedy: 'Operators use the operator socket; agents use the agent socket or TCP.',
      },
    );
  }
  return sessionRefusal(session, nowMs) ?? session;
}

function isAccepted({ principal, door }: Session, at: Door): boolean {
  return door === undefined ? (principal === 'operator') === (at === 'operator-socket') : door === at;
}

/** Why a session can no longer be used. */
export function sessionRefusal(session: Session, nowMs: number): Refusal | undefined {
  if (session.status === 'quarantined') {
    return refuse('SESSION_QUARANTINED', 'session', 'The session is in quarantine: it broke the rules too often.', {
      remedy: 'Stop, and tell the operator.',
      forOperators: '`sallyport audit tail` shows why. A new session lets the agent in again.',
    });
  }
  if (session.status === 'ended') {
    return refuse('SESSION_ENDED', 'session', 'The session was ended.', {
      remedy: 'Ask the operator for a new session.',
    });
  }
  if (session.expiresAtMs !== undefined && session.expiresAtMs <= nowMs) {
    return refuse('SESSION_EXPIRED', 'session', 'The session has expired.', {
      remedy: 'Ask the operator for a new session.',
    });
  }
  return undefined;
}
