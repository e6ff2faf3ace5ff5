import { factsOfCall } from '../live/call.ts';
import type { Call } from '../live/call.ts';
import type { Story } from './story.ts';

export interface Bar {
  readonly name: string;
  readonly kind: 'gates' | 'log' | 'person' | 'agent' | 'tool';
  /** From the beginning of the first bar. */
  readonly fromMs: number;
  readonly ms: number;
}

const phaseNames = [
  ['gates', 'Gates', 'gates'],
  ['log', 'Intent written to the log', 'log'],
  ['tool', 'The tool', 'tool'],
  ['result', 'Result checked', 'gates'],
] as const;

/** What happened between the question and the end of the run. Empty: nobody had to be asked. */
export function storyBars({ calls, steps }: Story): readonly Bar[] {
  const asked = steps.find(({ name }) => name === 'asked');
  const decided = steps.find(({ name }) => name === 'approved' || name === 'denied' || name === 'expired');
  if (asked === undefined || decided === undefined) return [];
  const waitedMs = Math.max(0, decided.atMs - asked.atMs);
  const bars: Bar[] = [{ name: 'Waited for a person', kind: 'person', fromMs: 0, ms: waitedMs }];
  const ran = calls.findLast(({ durationMs, tool }) => durationMs !== undefined && !tool.startsWith('approvals.'));
  if (ran === undefined) return bars;
  const cameMs = Math.max(0, startOf(ran) - decided.atMs);
  return [
    ...bars,
    { name: 'Agent came back', kind: 'agent', fromMs: waitedMs, ms: cameMs },
    { name: 'The call', kind: 'tool', fromMs: waitedMs + cameMs, ms: ran.durationMs ?? 0 },
  ];
}

/** Where the time of one call went, each bar from where the one before ended. Empty: it did not run, or is not over. */
export function phaseBars(call: Call): readonly Bar[] {
  const { phases_us: phases } = factsOfCall(call);
  if (typeof phases !== 'object' || phases === null) return roughBars(call);
  const bars: Bar[] = [];
  let fromMs = 0;
  for (const [member, name, kind] of phaseNames) {
    const us = (phases as Readonly<Record<string, unknown>>)[member];
    if (typeof us !== 'number') continue;
    bars.push({ name, kind, fromMs, ms: us / 1000 });
    fromMs += us / 1000;
  }
  return bars;
}

/** Stages that took long, by name. Measured only while spans are exported. */
export function slowStages(call: Call): readonly (readonly [name: string, ms: number])[] {
  const { slow } = (factsOfCall(call)['phases_us'] ?? {}) as { readonly slow?: unknown };
  if (typeof slow !== 'object' || slow === null) return [];
  return Object.entries(slow).flatMap(([name, us]) => (typeof us === 'number' ? [[name, us / 1000] as const] : []));
}

/** A record of an older version says only when the intent was written. */
function roughBars(call: Call): readonly Bar[] {
  const intent = call.records.find(({ kind }) => kind === 'intent');
  if (intent === undefined || call.durationMs === undefined) return [];
  const untilIntentMs = Math.min(call.durationMs, Math.max(0, Number(intent.timeMs) - startOf(call)));
  return [
    { name: 'Gates', kind: 'gates', fromMs: 0, ms: untilIntentMs },
    { name: 'The log, and the tool', kind: 'tool', fromMs: untilIntentMs, ms: call.durationMs - untilIntentMs },
  ];
}

function startOf(call: Call): number {
  const { started_at_ms: started } = factsOfCall(call);
  return typeof started === 'number' ? started : call.startedAtMs;
}
