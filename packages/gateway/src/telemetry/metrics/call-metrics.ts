import type { CallFacts } from '../../call/call.ts';
import type { RedactText } from '../../call/redacted.ts';
import type { Gathered } from '../../call/stage.ts';
import { outcomes } from '../call-events.ts';
import type { CallEnd, Outcome } from '../call-events.ts';
import { counter } from './exposition.ts';
import type { MetricFamily, MetricSample } from './exposition.ts';

/** In milliseconds; the last bucket has no end. */
const bounds = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 300_000];
/** Operators accept tools and write rules, and servers may offer them many. What comes later is counted together. */
const mostSeries = 500;
const rest = 'other';
/** Callers choose the names of tools that do not exist. */
const unknown = 'unknown';

interface ToolSeries {
  readonly counts: Record<Outcome, number>;
  /** How many took at most as long as each bound, and longer than the one before. */
  readonly buckets: number[];
  sumMs: number;
}

interface DenialSeries {
  readonly labels: Readonly<Record<string, string>>;
  count: number;
}

/**
 * Counts calls since the daemon started. Labels are names of known tools, ids of rules and codes: no caller can make a
 * series by what it sends.
 */
export class CallMetrics {
  readonly #redact: RedactText;
  readonly #tools = new Map<string, ToolSeries>();
  readonly #denials = new Map<string, DenialSeries>();
  #unreported = 0;

  constructor(redact: RedactText) {
    this.#redact = redact;
  }

  count({ tool }: Pick<Gathered<CallFacts>, 'tool'>, { outcome, code, rule }: CallEnd, latencyMs: number): void {
    const series = this.#seriesOf(tool?.definition.name ?? unknown);
    series.counts[outcome]++;
    if (outcome === 'ok' || outcome === 'error') {
      let at = 0;
      while (latencyMs > (bounds[at] ?? Infinity)) at++;
      series.buckets[at] = (series.buckets[at] ?? 0) + 1;
      series.sumMs += latencyMs;
    }
    if (rule !== undefined && outcome === 'denied') this.#denialOf(rule, code ?? rest).count++;
  }

  /** Of a stranger, and one too many to be told. */
  countUnreported(): void {
    this.#unreported++;
  }

  read(): readonly MetricFamily[] {
    const tools = [...this.#tools].map(([name, series]) => ({ tool: this.#redact(name), ...series }));
    return [
      {
        name: 'sallyport_tool_calls_total',
        help: 'Calls by tool and how they ended. Names that are no tools count as unknown.',
        type: 'counter',
        samples: tools.flatMap(({ tool, counts }) =>
          outcomes.map((outcome) => ({ labels: { tool, outcome }, value: counts[outcome] })),
        ),
      },
      {
        name: 'sallyport_tool_call_duration_seconds',
        help: 'Time from the arrival of a call to its recorded end, for calls that ran.',
        type: 'histogram',
        samples: tools.flatMap(({ tool, buckets, sumMs }) => describeHistogram(tool, buckets, sumMs)),
      },
      {
        name: 'sallyport_denials_total',
        help: 'Calls that were refused, by the rule that refused them.',
        type: 'counter',
        samples: [...this.#denials.values()].map(({ labels, count }) => ({ labels, value: count })),
      },
      counter(
        'sallyport_calls_unreported_total',
        'Calls without an accepted credential that came so fast that they are no events and no spans.',
        this.#unreported,
      ),
    ];
  }

  #seriesOf(tool: string): ToolSeries {
    const known = this.#tools.get(tool);
    if (known !== undefined) return known;
    if (this.#tools.size >= mostSeries && tool !== rest) return this.#seriesOf(rest);
    const counts = { ok: 0, error: 0, denied: 0, pending: 0, fault: 0 };
    const series = { counts, buckets: Array.from({ length: bounds.length + 1 }, () => 0), sumMs: 0 };
    this.#tools.set(tool, series);
    return series;
  }

  #denialOf(rule: string, code: string): DenialSeries {
    const key = `${rule} ${code}`;
    const known = this.#denials.get(key);
    if (known !== undefined) return known;
    if (this.#denials.size >= mostSeries && rule !== rest) return this.#denialOf(rest, rest);
    const series = { labels: { rule: this.#redact(rule), code }, count: 0 };
    this.#denials.set(key, series);
    return series;
  }
}

function describeHistogram(tool: string, buckets: readonly number[], sumMs: number): MetricSample[] {
  let count = 0;
  const cumulative = buckets.map((each, at): MetricSample => {
    count += each;
    const bound = bounds[at];
    const le = bound === undefined ? '+Inf' : String(bound / 1000);
    return { part: 'bucket', labels: { tool, le }, value: count };
  });
  return [
    ...cumulative,
    { part: 'sum', labels: { tool }, value: sumMs / 1000 },
    { part: 'count', labels: { tool }, value: count },
  ];
}
