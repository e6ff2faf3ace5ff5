import type { Session } from '../daemon/messages.ts';
import { formatCount } from '../text/format.ts';

/** Something of a session that runs out. */
export interface Gauge {
  readonly agent: string;
  readonly sessionId: string;
  /** Such as “540 of 600 calls”. */
  readonly text: string;
  /** How much of it is used, from 0 to 1. */
  readonly used: number;
  /** Whether somebody should look: of a budget by what is left of it, of an end by how soon it comes. */
  readonly state: 'low' | 'high' | 'full';
}

const hourMs = 3_600_000;

type Budget = NonNullable<Session['budget']>;
type Spent = NonNullable<Session['spent']>;

/** Every limit of a session and of its lease, with how much of it is used. */
export function gaugesOf(
  { agent, sessionId, budget, spent, lease, createdAtMs, expiresAtMs }: Session,
  nowMs: number,
): readonly Gauge[] {
  const make = (text: string, used: number, state: Gauge['state'] = stateOf(used, 0.7, 0.9)): Gauge => ({
    agent,
    sessionId,
    text,
    used: Math.min(1, Math.max(0, used)),
    state,
  });
  const gauges = [
    ...budgetGauges(budget, spent, '').map(([text, used]) => make(text, used)),
    ...budgetGauges(lease?.budget, lease?.spent, ' of the lease').map(([text, used]) => make(text, used)),
  ];
  const ends = [
    ['session', createdAtMs, expiresAtMs],
    ['lease', lease?.grantedAtMs, lease?.status === 'in force' ? lease.expiresAtMs : undefined],
  ] as const;
  for (const [what, from, to] of ends) {
    if (from === undefined || to === undefined) continue;
    const leftMs = Number(to) - nowMs;
    gauges.push(
      make(
        `${what} ${leftMs > 0 ? `ends in ${spellLeft(leftMs)}` : 'has ended'}`,
        1 - leftMs / (Number(to) - Number(from)),
        stateOf(-leftMs, -8 * hourMs, -hourMs),
      ),
    );
  }
  return gauges;
}

function stateOf(value: number, high: number, full: number): Gauge['state'] {
  if (value >= full) return 'full';
  return value >= high ? 'high' : 'low';
}

function budgetGauges(budget: Budget | undefined, spent: Spent | undefined, of: string): [string, number][] {
  const parts = [
    [budget?.maxCalls, Number(spent?.calls ?? 0), (count: number) => formatCount(count, 'call')],
    [budget?.maxActiveSeconds, Number(spent?.activeMs ?? 0) / 1000, (count: number) => `${Math.round(count)} s`],
    [budget?.maxTokens, Number(spent?.tokens ?? 0), (count: number) => formatCount(count, 'token')],
    [budget?.maxCostMicros, Number(spent?.costMicros ?? 0), (count: number) => (count / 1_000_000).toFixed(2)],
  ] as const;
  return parts.flatMap(([most, used, spell]): [string, number][] => {
    if (most === undefined) return [];
    return [
      [
        `${Math.round(used).toLocaleString('en')} of ${spell(Number(most))}${of}`,
        Number(most) === 0 ? 1 : used / Number(most),
      ],
    ];
  });
}

export function spellLeft(ms: number): string {
  const minutes = Math.ceil(ms / 60_000);
  if (minutes < 90) return formatCount(minutes, 'minute');
  const hours = Math.round(minutes / 60);
  return hours < 48 ? formatCount(hours, 'hour') : formatCount(Math.round(hours / 24), 'day');
}
