import type { EntryFacts } from './entry.ts';

/** What is counted: calls of agents by who made them and what decided them, and tools and rules of people's own calls. */
const activityKinds = ['agent', 'tool', 'rule', 'session', 'duration', 'own-rule', 'own-tool'] as const;
export type ActivityKind = (typeof activityKinds)[number];

export const endings = ['succeeded', 'denied', 'asked', 'failed'] as const;
export type Ending = (typeof endings)[number];

/** The shortest stretch of time that is counted by itself. */
export const stretchMs = 5 * 60_000;

/** One thing to count. */
export interface Count {
  readonly kind: ActivityKind;
  readonly name: string;
  readonly ending: Ending;
}

/** Four buckets for each doubling: a duration is known to a fifth of itself. */
function bucketOf(durationMs: number): number {
  return Math.round(4 * Math.log2(Math.max(0, durationMs) + 1));
}

export function durationOf(bucket: number): number {
  return 2 ** (bucket / 4) - 1;
}

/** What an entry adds to the counts. Nothing for what happened beside calls, and for tools that do not exist. */
export function countsOf({ kind, result, sessionId, payload }: EntryFacts): readonly Count[] {
  const {
    principal,
    agent,
    tool,
    decision,
    refusal,
    duration_ms: durationMs,
  } = payload as Readonly<Record<string, unknown>>;
  if (kind === 'event') return [];
  const ending = endingOf(result);
  const rule = textOf(decision, 'rule_id') ?? textOf(refusal, 'rule_id');
  const counts: Count[] = [];
  const add = (what: ActivityKind, name: unknown): void => {
    if (typeof name === 'string' && name !== '') counts.push({ kind: what, name, ending });
  };
  const isOwn = principal === 'operator';
  if (!isOwn && principal !== 'agent') return [];
  // Callers choose the names of tools that do not exist.
  if (textOf(refusal, 'code') !== 'UNKNOWN_TOOL') add(isOwn ? 'own-tool' : 'tool', tool);
  add(isOwn ? 'own-rule' : 'rule', rule);
  if (isOwn) return counts;
  add('agent', agent);
  add('session', sessionId);
  if (typeof durationMs === 'number') add('duration', String(bucketOf(durationMs)));
  return counts;
}

function textOf(value: unknown, member: string): string | undefined {
  const found = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[member] : undefined;
  return typeof found === 'string' ? found : undefined;
}

function endingOf(result: string): Ending {
  if (result === 'ok') return 'succeeded';
  if (result === 'pending') return 'asked';
  return result === 'denied' ? 'denied' : 'failed';
}

export interface ActivityRequest {
  readonly fromMs: number;
  readonly slotMs: number;
  readonly slots: number;
}

/** How the calls of one name went, a number for each slot, oldest first. */
export interface ActivityLine extends Readonly<Record<Ending, readonly number[]>> {
  readonly name: string;
}

/** All that was ever counted of one name. */
export interface ActivityTotal extends Readonly<Record<Ending, number>> {
  readonly kind: ActivityKind;
  readonly name: string;
  readonly lastMs: number;
}

export interface ActivityReport {
  readonly agents: readonly ActivityLine[];
  readonly tools: readonly ActivityLine[];
  /** Those that people called themselves. */
  readonly ownTools: readonly ActivityLine[];
  readonly rules: readonly ActivityLine[];
  /** For each slot half of the calls took at most this long, and 95 of 100 at most that. 0: there were none. */
  readonly medianMs: readonly number[];
  readonly p95Ms: readonly number[];
  readonly indexedSize: number;
}

/** Answers how much was done, without reading the log. Both reject when the index cannot be read. */
export interface ActivityIndex {
  readonly readActivity: (request: ActivityRequest) => Promise<ActivityReport>;
  /** Of these kinds, the latest first, at most a thousand of each kind. */
  readonly readTotals: (kinds: readonly ActivityKind[]) => Promise<readonly ActivityTotal[]>;
}
