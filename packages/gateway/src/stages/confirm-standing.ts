import type { Confirmed, Intended, Judged, Leased, ModeRead, Opened, OrganisationRead } from '../model/call.ts';
import { leaseRefusal } from '../governance/lease.ts';
import { refuse } from '../model/refusal.ts';
import type { Rules } from '../model/verdict.ts';
import type { Stage } from '../pipeline/stage.ts';
import type { Store } from '../storage/stores.ts';
import { sessionRefusal } from './open-session.ts';

/** Reads mode, session, organisation and rules once more, directly before the effect: what was decided must still hold. */
export function confirmStanding(
  store: Pick<Store, 'findStanding' | 'readMode' | 'readOrganisation'>,
  currentRules: () => Rules,
): Stage<Opened & Leased & OrganisationRead & ModeRead & Judged & Intended, Confirmed> {
  return {
    name: 'confirm-standing',
    run: ({ session, lease, organisation, mode, rules }, context) => {
      const nowMs = context.nowMs();
      const present = store.findStanding(session.id);
      const ended =
        present === undefined
          ? refuse('SESSION_ENDED', 'session', 'The session is gone.', {
              remedy: 'Ask the operator for a new session.',
            })
          : (sessionRefusal(present, nowMs) ?? leaseRefusal(present.lease, nowMs));
      if (ended !== undefined) return ended;
      if (present?.lease.id !== lease.id) return changed('The lease changed');
      const presentMode = store.readMode();
      if (presentMode !== mode) return changed(`The mode changed from ${mode} to ${presentMode}`);
      if (store.readOrganisation() !== organisation) return changed('The organisation changed');
      if (currentRules().hash !== rules.hash) return changed('The rules changed');
      return { confirmedAtMs: performance.now() };
    },
  };
}

function changed(what: string) {
  return refuse('STANDING_CHANGED', 'standing', `${what} while the call was on its way.`, {
    remedy: 'Send the call again.',
  });
}
