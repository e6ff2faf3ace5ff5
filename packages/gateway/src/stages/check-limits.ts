import type * as facts from '../model/call.ts';
import { refuse } from '../model/refusal.ts';
import type { Refusal } from '../model/refusal.ts';
import type { ModeLimits } from '../governance/mode-policy.ts';
import type { Profile } from '../model/organisation.ts';
import type { Budget, Mode, Spending } from '../model/session.ts';
import type { Stage } from '../pipeline/stage.ts';
import type { Store } from '../storage/stores.ts';
import { planReservations } from './plan-reservations.ts';

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
  store: Pick<Store, 'findSession' | 'usedOf'>,
  space: SpaceGauge,
  { limitsOf, profile }: LimitCircumstances = ordinary,
): Stage<Needs, facts.WithinLimits> {
  return {
    name: 'check-limits',
    run: ({ session, tool, standing, mode, rules, verdict, reused }, context) => {
      if (reused !== undefined) return { reservations: [] };
      const { audience, mutates } = tool.definition;
      // Whoever runs the gate must be able to act when it runs out of space.
      if (mutates && audience !== 'operator' && space.isLow()) {
        return refuse('DISK_NEARLY_FULL', 'disk-space', 'The disk that holds the log is nearly full.', {
          remedy: 'Free some space; reading goes on meanwhile.',
          retryAfterMs: 10_000,
        });
      }
      const { agent } = session;
      const roles = standing.roles ?? rules.rolesOf(agent);
      const limited = { tool: tool.definition, agent, roles, mode, profile: profile() };
      const reservations = planReservations(limited, rules.limits, limitsOf(mode));
      if (verdict.effect !== 'require_approval') return { reservations };
      const { budget, spent, lease } = store.findSession(session.id) ?? session;
      if (isSpent(budget, spent) || isSpent(lease.budget, lease.spent)) return budgetSpent();
      for (const reservation of reservations) {
        const { used, resetsInMs } = store.usedOf(reservation, context.nowMs());
        if (used >= reservation.limit) return rateLimited(reservation.rule, resetsInMs);
      }
      return { reservations };
    },
  };
}

function isSpent(budget: Budget, spent: Spending): boolean {
  return (Object.keys(budget) as (keyof Budget)[]).some((kind) => spent[kind] >= (budget[kind] ?? Infinity));
}

export function budgetSpent(): Refusal {
  return refuse('BUDGET_EXCEEDED', 'budget', 'The budget of this session or of its lease is spent.', {
    remedy: 'Ask the operator for a new lease or session.',
  });
}

export function rateLimited(rule: string, retryAfterMs: number): Refusal {
  return refuse('RATE_LIMITED', rule, 'Too many calls of this tool in this window.', {
    remedy: `Try again in ${Math.ceil(retryAfterMs / 1000)} s.`,
    retryAfterMs,
  });
}
