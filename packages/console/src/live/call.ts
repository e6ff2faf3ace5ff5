import type { AuditRecord } from '../daemon/messages.ts';

export const outcomes = ['running', 'ok', 'waiting', 'denied', 'error', 'fault', 'unknown'] as const;
export type Outcome = (typeof outcomes)[number];

export interface RefusalNote {
  readonly stage?: string;
  readonly code?: string;
  readonly rule_id?: string;
  readonly message?: string;
  readonly remedy?: string;
  readonly violations?: number;
  readonly task?: string;
}

/** What a record says about its call. Every string in it was chosen by a caller or a tool. */
export interface Payload {
  readonly [fact: string]: unknown;
  readonly tool?: string;
  readonly agent?: string;
  readonly principal?: string;
  readonly event?: string;
  readonly summary?: string;
  readonly mode?: string;
  readonly duration_ms?: number;
  readonly decision?: { readonly effect?: string; readonly rule_id?: string; readonly reason?: string };
  readonly consent?: { readonly by?: string; readonly how?: string; readonly at_ms?: number; readonly task?: string };
  readonly arguments?: unknown;
  readonly refusal?: RefusalNote;
  readonly error?: { readonly code?: string; readonly message?: string };
  readonly fault?: { readonly stage?: string; readonly message?: string };
}

/** One call, put together from its records. */
export interface Call {
  readonly id: string;
  readonly startedAtMs: number;
  readonly tool: string;
  readonly agent: string;
  readonly principal: string;
  readonly outcome: Outcome;
  /** One line: what came of it. */
  readonly summary: string;
  /** The request for approval that it is about. Empty: none. */
  readonly taskId: string;
  /** Absent while it runs, and when nothing ran. */
  readonly durationMs?: number;
  /** In the order of the log. */
  readonly records: readonly AuditRecord[];
}

export function readPayload(record: AuditRecord): Payload {
  try {
    const payload: unknown = JSON.parse(record.payloadJson || '{}');
    return typeof payload === 'object' && payload !== null ? (payload as Payload) : {};
  } catch {
    return {};
  }
}

/** The call with one more of its records. */
export function addRecord(call: Call | undefined, record: AuditRecord): Call {
  const payload = readPayload(record);
  const { tool = '', agent = '', principal = '', duration_ms: durationMs = call?.durationMs } = payload;
  return {
    id: record.callId,
    startedAtMs: call?.startedAtMs ?? Number(record.timeMs),
    tool: tool || (call?.tool ?? ''),
    agent: agent || (call?.agent ?? ''),
    principal: principal || (call?.principal ?? ''),
    outcome: outcomeOf(record, payload) ?? call?.outcome ?? 'unknown',
    summary: summaryOf(record, payload) || (call?.summary ?? ''),
    taskId: taskOf(payload) || (call?.taskId ?? ''),
    ...(durationMs === undefined ? {} : { durationMs }),
    records: [...(call?.records ?? []), record],
  };
}

/** Named by the call that asked, by the call that ran, and by the decision in between. */
function taskOf({ refusal, consent, tool = '', arguments: args }: Payload): string {
  const decided = /^(?:approvals|reviews)\.(?:approve|deny|decide)$/.test(tool) ? readText(args, 'task_id') : undefined;
  return refusal?.task ?? consent?.task ?? decided ?? '';
}

export function readText(value: unknown, member: string): string | undefined {
  const found = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[member] : undefined;
  return typeof found === 'string' ? found : undefined;
}

/** All that the records of a call say, the later ones winning. */
export function factsOfCall(call: Pick<Call, 'records'>): Payload {
  const known = factsRead.get(call);
  if (known !== undefined) return known;
  const facts = Object.assign({}, ...call.records.map(readPayload)) as Payload;
  factsRead.set(call, facts);
  return facts;
}

/** A call never changes: with another record it is another object. */
const factsRead = new WeakMap<object, Payload>();

/** Undefined for records that say nothing about what came of a call. */
function outcomeOf({ kind, result }: AuditRecord, { refusal, event }: Payload): Outcome | undefined {
  if (kind === 'intent') return 'running';
  if (event === 'approval_expired') return 'denied';
  if (kind !== 'outcome' && kind !== 'refusal') return undefined;
  if (refusal?.code === 'APPROVAL_REQUIRED') return 'waiting';
  return outcomes.find((outcome) => outcome === result) ?? 'unknown';
}

export function summaryOf({ payloadJson }: AuditRecord, payload: Payload): string {
  const { refusal, error, fault, summary, event } = payload;
  if (payloadJson === '') return '(erased)';
  if (refusal !== undefined) return refusal.message || refusal.code || '';
  if (error !== undefined) return [error.code, error.message].filter(Boolean).join(': ');
  if (fault !== undefined) return `The gate itself failed in ${fault.stage ?? 'an unknown stage'}.`;
  if (event === 'approval_expired') return 'Nobody decided in time.';
  return summary ?? event?.replaceAll('_', ' ') ?? '';
}
