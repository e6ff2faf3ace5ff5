import type { AuditEntry, InJson } from '@sallyport/contract';
import { readPayload } from './read-payload.ts';
import type { RecordPayload } from './read-payload.ts';

/** One call of a run, put together from its records. */
export interface RunCall {
  readonly callId: string;
  /** Empty: it is no step of another call. */
  readonly parentCallId: string;
  readonly step: string;
  readonly traceId: string;
  readonly sessionId: string;
  readonly tool: string;
  readonly agent: string;
  readonly startedAtMs: number;
  /** Undefined: it did not run, or nobody knows when it ended. */
  readonly durationMs?: number;
  /** As the log has it: ok, denied, error, … */
  readonly status: string;
  readonly code: string;
  readonly approval?: { readonly by: string; readonly how: string; readonly atMs: number };
  /** The first of them; the record has at most 100. */
  readonly changedPaths: readonly string[];
  readonly network: readonly { readonly outcome: string; readonly target: string; readonly times: number }[];
  /** What was recorded was erased. */
  readonly isErased: boolean;
}

interface Payload extends RecordPayload {
  readonly trace_id?: string;
  readonly caller_trace_id?: string;
  readonly started_at_ms?: number;
  readonly consent?: { readonly by?: string; readonly how?: string; readonly at_ms?: number };
  readonly changes?: readonly (string | { readonly path?: string })[];
  readonly network?: RunCall['network'];
}

/** Undefined: the entry is not a call. */
export function readRunCall({ kind, records }: InJson<AuditEntry>): RunCall | undefined {
  const [first] = records;
  const last = records.at(-1);
  if (kind === 'event' || first === undefined || last === undefined || first.callId === '') return undefined;
  const told: Payload = Object.assign({}, ...records.map(readPayload)) as Payload;
  const { consent, duration_ms: durationMs } = told;
  return {
    callId: first.callId,
    parentCallId: told.parent_call_id ?? '',
    step: told.step ?? '',
    traceId: told.trace_id ?? '',
    sessionId: first.sessionId,
    tool: told.tool ?? '',
    agent: told.agent ?? '',
    startedAtMs: told.started_at_ms ?? Number(first.timeMs),
    ...(durationMs === undefined ? {} : { durationMs }),
    status: last.result === 'none' ? 'not ended' : last.result,
    code: told.refusal?.code ?? told.error?.code ?? '',
    ...(consent?.by === undefined
      ? {}
      : { approval: { by: consent.by, how: consent.how ?? '', atMs: consent.at_ms ?? 0 } }),
    changedPaths: (told.changes ?? []).flatMap((each) => (typeof each === 'string' ? [] : (each.path ?? []))),
    network: told.network ?? [],
    isErased: records.every(({ payloadJson }) => payloadJson === ''),
  };
}

export interface PlacedCall extends RunCall {
  /** How many calls it is a step within. */
  readonly depth: number;
}

/** In the order in which they began, steps below their call. */
export function arrangeRun(calls: readonly RunCall[]): readonly PlacedCall[] {
  const known = new Set(calls.map(({ callId }) => callId));
  const byParent = Map.groupBy(
    calls.toSorted((a, b) => a.startedAtMs - b.startedAtMs || (a.callId < b.callId ? -1 : 1)),
    ({ parentCallId }) => (known.has(parentCallId) ? parentCallId : ''),
  );
  const placed: PlacedCall[] = [];
  const seen = new Set<string>();
  const place = (parent: string, depth: number): void => {
    for (const call of byParent.get(parent) ?? []) {
      if (seen.has(call.callId)) continue;
      seen.add(call.callId);
      placed.push({ ...call, depth });
      place(call.callId, depth + 1);
    }
  };
  place('', 0);
  // Records that contradict each other hide no call.
  for (const call of calls) if (!seen.has(call.callId)) placed.push({ ...call, depth: 0 });
  return placed;
}
