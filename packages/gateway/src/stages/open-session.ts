import type { Based, Begun, Chained, Opened } from '../call/call.ts';
import { refuse } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import type { Session } from '../call/session.ts';
import { askForSession, authenticate, sessionRefusal } from '../sessions/authenticate.ts';
import type { Stage } from '../call/stage.ts';
import type { Store } from '../storage/stores.ts';

/**
 * Finds the session behind the credential, or the session of the pipeline whose step this is. Access to a door grants
 * nothing.
 */
export function openSession(
  store: Pick<Store, 'findSessionByToken' | 'findSession' | 'version'>,
): Stage<Begun & Chained, Opened & Based> {
  return {
    name: 'open-session',
    run: (call, context) => {
      const { step } = call;
      const nowMs = context.nowMs();
      const basedOn = store.version();
      const found = step === undefined ? authenticate(store, call, nowMs) : reopen(store, step.parent.sessionId, nowMs);
      if ('kind' in found) return found;
      call.underWay?.identify(found);
      call.session = found;
      call.basedOn = basedOn;
      return undefined;
    },
  };
}

/** Read again for every step: the token is not kept, and the session may have ended since the last step. */
function reopen(store: Pick<Store, 'findSession'>, sessionId: string, nowMs: number): Session | Refusal {
  const session = store.findSession(sessionId);
  if (session === undefined) {
    return refuse('SESSION_ENDED', 'session', 'The session is gone.', askForSession);
  }
  return sessionRefusal(session, nowMs) ?? session;
}
