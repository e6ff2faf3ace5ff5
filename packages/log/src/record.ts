export const recordKinds = ['intent', 'outcome', 'refusal', 'event'] as const;
export type RecordKind = (typeof recordKinds)[number];

/** `pending`: the call waits for a person. Sent again after the decision, it is another call with a result of its own. */
export const recordResults = ['none', 'ok', 'error', 'denied', 'fault', 'unknown', 'pending'] as const;
export type RecordResult = (typeof recordResults)[number];

/** What the leaf of a record says, besides the commitment to its payload. */
export interface RecordFacts {
  readonly kind: RecordKind;
  readonly result: RecordResult;
  readonly timeMs: number;
  /** UUID. Absent for events of the daemon itself. */
  readonly callId?: string | undefined;
  readonly sessionId?: string | undefined;
  /** SHA-256 of the rules, hexadecimal. Absent when no rules were read yet. */
  readonly rulesHash?: string | undefined;
}

export interface StoredRecord {
  readonly index: number;
  readonly leaf: Uint8Array;
  /** Absent after erasure, together with the payload. */
  readonly salt?: Uint8Array;
  readonly payload?: string;
  /** HMAC over index and leaf hash; see docs/audit-format.md. */
  readonly tag: Uint8Array;
}

export interface StoredCheckpoint {
  readonly size: number;
  /** The signed note, as published. */
  readonly note: string;
}
