import { toNumber } from '../../client/answer-json.ts';
import type { AuditRecordJson } from '@sallyport/contract';

/** What a record of the log says about its call. Every string in it was chosen by a caller or a tool. */
export interface RecordPayload {
  readonly tool?: string;
  readonly agent?: string;
  readonly summary?: string;
  readonly event?: string;
  readonly duration_ms?: number;
  /** The call that this one is a step of, and which. Absent: it is a call of its own. */
  readonly parent_call_id?: string;
  readonly step?: string;
  /** The call whose result was handed out again. */
  readonly reused_from?: string;
  readonly refusal?: {
    readonly code?: string;
    readonly rule_id?: string;
    readonly message?: string;
    /** What the caller was told to do. */
    readonly remedy?: string;
  };
  readonly error?: { readonly code?: string; readonly message?: string };
  readonly fault?: { readonly stage?: string };
}

/** A record as scripts read it. After erasure the payload is absent. */
export function recordToJson(record: AuditRecordJson): object {
  return {
    index: toNumber(record.index),
    leaf_hash: record.leafHash ?? '',
    kind: record.kind ?? '',
    result: record.result ?? '',
    time_ms: toNumber(record.timeMs),
    time: new Date(toNumber(record.timeMs)).toISOString(),
    ...(record.callId ? { call_id: record.callId } : {}),
    ...(record.sessionId ? { session_id: record.sessionId } : {}),
    ...(record.rulesHash ? { rules_hash: record.rulesHash } : {}),
    ...(record.payloadJson ? { payload: JSON.parse(record.payloadJson) as unknown } : {}),
  };
}

export function readPayload(record: AuditRecordJson): RecordPayload {
  const payload: unknown = record.payloadJson ? JSON.parse(record.payloadJson) : {};
  return typeof payload === 'object' && payload !== null ? payload : {};
}
