import type { AuditRecord, InJson } from '@sallyport/contract';

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

export function readPayload(record: InJson<AuditRecord>): RecordPayload {
  const payload: unknown = record.payloadJson ? JSON.parse(record.payloadJson) : {};
  return typeof payload === 'object' && payload !== null ? payload : {};
}
