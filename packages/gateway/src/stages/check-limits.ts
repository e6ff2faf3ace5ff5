import type { Judged, Opened, Reservation, Resolved, ReuseChecked, WithinLimits } from '../model/call.ts';
import { refuse } from '../model/refusal.ts';
import type { Refusal } from '../model/refusal.ts';
import { matchesName } from '../governance/name-pattern.ts';
import type { Budget, Spending } from '../model/session.ts';
import type { Limits } from '../model/verdict.ts';
import type { Stage } from '../pipeline/stage.ts';
import type { Store } from '../storage/stores.ts';

const hourMs = 3_600_000;

export interface SpaceGauge {
  /** Whether so little disk is left that calls that change something should stop before the log does. */
  readonly isLow: () => boolean;
}

/**
 * Works out which counts the call will raise, and looks at budget and limits when a person is about to be asked:
 * nobody decides about a call that would be refused anyway. For all other calls admission decides at once.
 */
export function checkLimits(
  store: Pick<Store, 'findSession' | 'usedOf'>,
  space: SpaceGauge,
): Stage<Opened & Resolved & Judged & ReuseChecked, WithinLimits> {
  return {
    name: 'check-limits',
    run: ({ session, tool, rules, verdict, reused }, context) => {
      if (reused !== undefined) return { reservations: [] };
      const { audience, mutates, name, rateLimitPerHour } = tool.definition;
      // Whoever runs the gate must be able to act when it runs out of space.
      if (mutates && audience !== 'operator' && space.isLow()) {
        return refuse('DISK_NEARLY_FULL', 'disk-space', 'The disk that holds the log is nearly full.', {
          remedy: 'Free some space; reading goes on meanwhile.',
          retryAfterMs: 10_000,
        });
      }
      const reservations = reservationsFor(rules.limits, session.agent, name, rateLimitPerHour);
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

function reservationsFor(limits: Limits, agent: string, tool: string, perHour: number | undefined): Reservation[] {
  const rate = limits.rates.find(({ tools }) => tools.some((pattern) => matchesName(pattern, tool)));
  const key = `${tool} ${agent}`;
  const reservations = (rate?.limits ?? []).map(({ windowMs, calls }) => ({
    key,
    windowMs,
    limit: calls,
    rule: `rate-limit-${windowMs / 1000}s`,
  }));
  if (perHour !== undefined) {
    reservations.push({ key: `definition ${key}`, windowMs: hourMs, limit: perHour, rule: 'rate-limit-of-the-tool' });
  }
  return reservations;
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
