import type { Based, Confirmed, Intended, Judged, Leased, ModeRead, Opened } from '../call/call.ts';
import { leaseRefusal } from '../policy/judge/lease.ts';
import { refuse } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import type { Stage } from '../call/stage.ts';
import type { Store } from '../storage/stores.ts';
import { askForSession, sessionRefusal } from '../sessions/authenticate.ts';
import type { RulesFor } from './judge-call.ts';

/** A state that took longer to read may have changed again. */
const mostMs = 1000;

/**
 * Reads mode, session, organisation and rules once more, directly before the effect: what was decided must still hold.
 */
export function confirmStanding(
  store: Pick<Store, 'changedSince' | 'findSession' | 'readMode'>,
  rulesFor: RulesFor,
  // A clock that nobody can set.
  steadyMs: () => number = () => performance.now(),
): Stage<Opened & Based & Leased & ModeRead & Judged & Intended, Confirmed> {
  return {
    name: 'confirm-standing',
    run: (call, context) => {
      const { session, lease, basedOn, mode, rules } = call;
      const nowMs = context.nowMs();
      const beganAtMs = steadyMs();
      const present = store.findSession(session.id);
      const ended =
        present === undefined
          ? refuse('SESSION_ENDED', 'session', 'The session is gone.', askForSession)
          : (sessionRefusal(present, nowMs) ?? leaseRefusal(present.lease, nowMs));
      if (ended !== undefined) return ended;
      if (present?.lease.id !== lease.id) return standingChanged('The lease changed');
      const what = store.changedSince(basedOn, session.id);
      if (what === 'mode') return standingChanged(`The mode changed from ${mode} to ${store.readMode()}`);
      if (what !== undefined) return standingChanged(`The ${what} changed`);
      const presentRules = rulesFor(session);
      if (presentRules?.hash !== rules.hash) return standingChanged('The rules changed');
      if (presentRules.workspace.key !== rules.workspace.key) return standingChanged('The accepted workspaces changed');
      const confirmedAtMs = steadyMs();
      if (confirmedAtMs - beganAtMs > mostMs) return unconfirmed();
      call.confirmedAtMs = confirmedAtMs;
      return undefined;
    },
  };
}

function unconfirmed() {
  const message = 'The gate could not confirm within a second that mode, session and rules are still the same.';
  return refuse('STANDING_CHANGED', 'standing', message, { remedy: 'Send the call again.' });
}

export function standingChanged(what: string): Refusal {
  return refuse('STANDING_CHANGED', 'standing', `${what} while the call was on its way.`, {
    remedy: 'Send the call again.',
  });
}
