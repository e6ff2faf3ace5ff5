import { readPayload } from '../audit/read-payload.ts';
import type { AuditRecord, InJson } from '@sallyport/contract';

/** What the log tells about the calls of one tool. */
export interface ToolMetrics {
  readonly calls: number;
  readonly succeeded: number;
  /** It ran and failed, or its end is not known. */
  readonly failed: number;
  /** A gate or a person said no. */
  readonly denied: number;
  /** It waits, or waited, for a person. Sent again after the decision it counts as a call of its own. */
  readonly asked: number;
  /** By code, most frequent first: why calls failed or were denied. */
  readonly reasons: Readonly<Record<string, number>>;
  /** Of calls that ran, from the request to the answer. Absent: none ran. */
  readonly durations?: { readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number };
  readonly lastCallAtMs: number;
}

/** Counts calls by the canonical name of their tool. The records are in the order of the log. */
export function countCalls(
  records: readonly InJson<AuditRecord>[],
  canonicalName: (name: string) => string = (name) => name,
): ReadonlyMap<string, ToolMetrics> {
  const tallies = new Map<string, Tally>();
  const reused = new Set<string>();
  for (const record of records) {
    const { kind, result, callId } = record;
    const payload = readPayload(record);
    // A result that is handed out again says nothing about how long the tool takes.
    if (kind === 'intent' && payload.reused_from !== undefined) reused.add(callId);
    const code = payload.refusal?.code ?? payload.error?.code ?? (payload.fault === undefined ? undefined : 'FAULT');
    if ((kind !== 'outcome' && kind !== 'refusal') || payload.tool === undefined || code === 'UNKNOWN_TOOL') continue;
    const name = canonicalName(payload.tool);
    const tally = tallies.get(name) ?? new Tally();
    tallies.set(name, tally);
    tally.add(result, code, Number(record.timeMs));
    const hasRun = result === 'ok' || result === 'error';
    if (hasRun && payload.duration_ms !== undefined && !reused.has(callId)) tally.durations.push(payload.duration_ms);
  }
  return new Map([...tallies].map(([name, tally]) => [name, tally.sum()]));
}

class Tally {
  readonly durations: number[] = [];
  readonly #results = new Map<string, number>();
  readonly #codes = new Map<string, number>();
  #lastCallAtMs = 0;

  add(result: string, code: string | undefined, timeMs: number): void {
    this.#results.set(result, (this.#results.get(result) ?? 0) + 1);
    if (code !== undefined && result !== 'pending') this.#codes.set(code, (this.#codes.get(code) ?? 0) + 1);
    this.#lastCallAtMs = Math.max(this.#lastCallAtMs, timeMs);
  }

  sum(): ToolMetrics {
    const calls = [...this.#results.values()].reduce((sum, count) => sum + count, 0);
    const count = (result: string): number => this.#results.get(result) ?? 0;
    const [succeeded, denied, asked] = [count('ok'), count('denied'), count('pending')];
    const sorted = this.durations.toSorted((a, b) => a - b);
    return {
      calls,
      succeeded,
      failed: calls - succeeded - denied - asked,
      denied,
      asked,
      reasons: Object.fromEntries([...this.#codes].sort(([, a], [, b]) => b - a)),
      ...(sorted.length === 0
        ? {}
        : { durations: { p50Ms: percentile(sorted, 50), p99Ms: percentile(sorted, 99), maxMs: sorted.at(-1) ?? 0 } }),
      lastCallAtMs: this.#lastCallAtMs,
    };
  }
}

/** A percentile: the smallest measured duration that at least this percentage of them does not exceed. */
function percentile(sorted: readonly number[], percent: number): number {
  return sorted[Math.ceil((percent / 100) * sorted.length) - 1] ?? 0;
}
