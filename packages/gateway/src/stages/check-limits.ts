import { spellCount } from '@sallyport/contract';
import type * as facts from '../call/call.ts';
import { refuse } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import type { ModeLimits } from '../policy/judge/mode-policy.ts';
import type { Profile } from '../call/organisation.ts';
import type { Budget, Mode, Session, Spending, SpentBudget } from '../call/session.ts';
import type { Passed, Stage } from '../call/stage.ts';
import type { Store } from '../storage/stores.ts';
import { ReservationPlans } from './plan-reservations.ts';

export interface SpaceGauge {
  /** Whether so little disk is left that calls that change something should stop before the log does. */
  readonly isLow: () => boolean;
}

/** What limits depend on besides the rules. */
export interface LimitCircumstances {
  readonly limitsOf: (mode: Mode) => ModeLimits;
  readonly profile: () => Profile;
}

type Needs = facts.Opened & facts.Resolved & facts.Permitted & facts.ModeRead & facts.Judged & facts.ReuseChecked;

const ordinary: LimitCircumstances = { limitsOf: () => ({ maxRunning: Infinity }), profile: () => 'personal' };

/**
 * Works out which counts the call will raise, and looks at budget and limits when a person is about to be asked:
 * nobody decides about a call that would be refused anyway. For all other calls admission decides at once.
 */
export function checkLimits(
  store: Pick<Store, 'readSession' | 'usedOf'>,
  space: SpaceGauge,
  { limitsOf, profile }: LimitCircumstances = ordinary,
): Stage<Needs, facts.WithinLimits> {
  const plans = new ReservationPlans();
  return {
    name: 'check-limits',
    run: (call, context) => {
      const { session, tool, membership, mode, rules } = call;
      if (call.reused !== undefined) {
        call.reservations = [];
        return undefined;
      }
      const { audience, mutates } = tool.definition;
      // Operators must be able to act when the disk is full.
      if (mutates && audience === 'everyone' && space.isLow()) {
        return refuse('DISK_NEARLY_FULL', 'disk-space', 'The disk that holds the log is nearly full.', {
          remedy: 'Calls that only read still work.',
          forOperators: 'Free some space on it; calls that only read still work.',
          retryAfterMs: 10_000,
        });
      }
      const { agent } = session;
      const roles = membership.roles ?? rules.rolesOf(agent, membership.profile);
      const limited = { tool: tool.definition, agent, roles, mode, profile: profile() };
      const reservations = plans.of(limited, rules.limits, limitsOf(mode));
      call.reservations = reservations;
      if (call.verdict.effect !== 'require_approval') return undefined;
      return lookAhead(store, session, reservations, context.nowMs());
    },
  };
}

/** Only before a person is asked: all other calls find out at admission, without waiting here. */
async function lookAhead(
  store: Pick<Store, 'readSession' | 'usedOf'>,
  session: Session,
  reservations: readonly facts.Reservation[],
  nowMs: number,
): Promise<Passed> {
  const { budget, spent, lease } = (await store.readSession(session.id)) ?? session;
  const gone = findSpent('session', budget, spent) ?? findSpent('lease', lease.budget, lease.spent);
  if (gone !== undefined) return budgetSpent(gone);
  for (const reservation of reservations) {
    const { used, resetsInMs } = await store.usedOf(reservation, nowMs);
    if (used >= reservation.limit) return rateLimited(reservation, resetsInMs);
  }
  return undefined;
}

function findSpent(of: SpentBudget['of'], budget: Budget, spent: Spending): SpentBudget | undefined {
  const kind = (Object.keys(budget) as (keyof Budget)[]).find((each) => spent[each] >= (budget[each] ?? Infinity));
  return kind === undefined ? undefined : { of, kind, used: spent[kind], limit: budget[kind] ?? 0 };
}

const spelled: Readonly<Record<keyof Budget, (used: number, limit: number) => string>> = {
  calls: (used, limit) => `${used} of ${spellCount(limit, 'call')}`,
  activeMs: (used, limit) => `${used / 1000} of ${limit / 1000} s in which calls ran`,
  tokens: (used, limit) => `${used} of ${limit} tokens`,
  costMicros: (used, limit) => `${used / 1e6} of ${limit / 1e6} in cost`,
};

export function budgetSpent({ of, kind, used, limit }: SpentBudget): Refusal {
  return refuse('BUDGET_EXCEEDED', 'budget', `The budget of the ${of} is spent: ${spelled[kind](used, limit)}.`, {
    remedy:
      of === 'session'
        ? 'Ask the operator for a new session with a larger budget. A new lease does not help.'
        : 'Ask the operator for a new lease with a larger budget. The session itself may go on.',
    forOperators:
      of === 'session'
        ? '`sallyport session create` makes a session with a larger budget.'
        : '`sallyport lease grant` gives the session a lease with a larger budget.',
  });
}

export function rateLimited(
  { rule, limit, windowMs }: Pick<facts.Reservation, 'rule'> & Partial<facts.Reservation>,
  retryAfterMs: number,
): Refusal {
  const used =
    limit === undefined || windowMs === undefined
      ? 'Too many calls in this window.'
      : `All ${spellCount(limit, 'call')} within ${spellWindow(windowMs)} are used.`;
  const remedy = `Try again in ${Math.ceil(retryAfterMs / 1000)} s.`;
  return refuse('RATE_LIMITED', rule, used, {
    remedy,
    forOperators: `${remedy} The rule files set limits such as ${rule}; \`sallyport policy apply\` applies a change.`,
    retryAfterMs,
  });
}

function spellWindow(windowMs: number): string {
  const minutes = windowMs / 60_000;
  if (minutes < 60) return minutes === 1 ? 'a minute' : `${minutes} minutes`;
  return minutes === 60 ? 'an hour' : `${minutes / 60} hours`;
}
