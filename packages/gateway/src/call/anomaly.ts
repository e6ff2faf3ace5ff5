import type { Redacted } from './redacted.ts';

export const anomalyKinds = [
  'call_spike',
  'repeated_failures',
  'suspicious_combination',
  'permission_escalation',
] as const;
export type AnomalyKind = (typeof anomalyKinds)[number];

/** What the rules can have done about an anomaly, besides telling people. */
export const anomalyResponses = ['raise_mode', 'quarantine'] as const;
export type AnomalyResponse = (typeof anomalyResponses)[number];

/** A call behind an anomaly. */
export interface AnomalousCall {
  readonly callId: string;
  /** Its canonical name; of a tool that does not exist, the name that was asked for. */
  readonly tool: Redacted;
  readonly atMs: number;
  /** `ok`, or the code of the refusal or failure. */
  readonly result: string;
}

/** An episode as it begins. One of a kind and detail at a time for each agent. */
export interface NewAnomaly {
  readonly id: string;
  readonly kind: AnomalyKind;
  /** Which combination of the rules, or which attempt that cannot be a mistake. Empty: there is no more to say. */
  readonly detail: string;
  /** Empty: callers without a valid credential. */
  readonly agent: string;
  /** Of the call that began it. Empty: as above. */
  readonly sessionId: string;
  readonly beganAtMs: number;
  /** One sentence. */
  readonly summary: Redacted;
  /** The newest of them, oldest first. */
  readonly calls: readonly AnomalousCall[];
  /** Whom it is for. Empty: the directors. */
  readonly senior: string;
}

export interface Anomaly extends NewAnomaly {
  /** When the last call came that belongs to the episode. */
  readonly lastAtMs: number;
  /** How many calls since its beginning belong to it, the first included. */
  readonly sightings: number;
  /** What was done besides telling people. */
  readonly done: readonly AnomalyResponse[];
  /** The first person who said that they have seen it. Absent: nobody has. */
  readonly seen?: { readonly by: string; readonly atMs: number };
}

/** An agent that goes on although it was told to slow down, or one whose session had to be shut off. */
export interface Abuse {
  readonly kind: 'limits_ignored' | 'session_quarantined';
  readonly sessionId: string;
  readonly agent: string;
  /** Of the last call. Empty: it named none that there is. */
  readonly tool: string;
  /** That refused the last call. Empty: it ran and failed. */
  readonly rule: string;
  /** Within the window of ten minutes, of those that ran into limits. */
  readonly refusals: number;
}
