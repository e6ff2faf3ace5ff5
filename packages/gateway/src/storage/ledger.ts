import type { RecordFacts } from '@sallyport/log';
import type { ConsentUse } from '../call/approval.ts';
import type { KeptResult, Reservation } from '../call/call.ts';
import type { Redacted } from '../call/redacted.ts';
import type { SpentBudget } from '../call/session.ts';
import type { Aspect } from './snapshot.ts';

/** What becomes one leaf of the log. Everything a caller chose is in `payload`, already redacted. */
export interface LogEntry extends RecordFacts {
  /** JSON, below 64 KB. */
  readonly payload: Redacted;
}

/** What a call adds to the spending of its session and lease, apart from being one call. */
export interface Charge {
  readonly sessionId: string;
  readonly leaseId: string;
  readonly activeMs: number;
  readonly tokens: number;
  readonly costMicros: number;
}

/** Misbehaviour of a session: how much, and when it is too much. */
export interface Misconduct {
  readonly sessionId: string;
  readonly weight: number;
  readonly limit: number;
  readonly windowMs: number;
}

export interface Admission {
  readonly sessionId: string;
  readonly leaseId: string;
  /** Version of the snapshot that the gates read. The parts that the call depends on must not have changed. */
  readonly basedOn: number;
  /** By its canonical name. */
  readonly tool: string;
  readonly intent: LogEntry & { readonly callId: string };
  readonly reservations: readonly Reservation[];
  /** What a person agreed to, used up together with the intent. Absent: no consent was needed. */
  readonly consent?: ConsentUse | undefined;
  /** Claims a dedupe key for this call. */
  readonly dedupe?:
    | {
        readonly key: string;
        readonly argumentsSha256: string;
        readonly expiresAtMs: number;
        /** Takes over a key whose first call, with the same arguments, ended as unknown. */
        readonly isRepeatable?: boolean;
      }
    | undefined;
}

export type Admitted =
  | { readonly admitted: true; readonly intentIndex: number }
  | { readonly admitted: false; readonly because: 'session' | 'lease' | 'dedupe' | 'consent' }
  /** The gates read something that has changed since: to be judged again. */
  | { readonly admitted: false; readonly because: 'stale'; readonly what: Aspect }
  | { readonly admitted: false; readonly because: 'budget'; readonly spent: SpentBudget }
  | { readonly admitted: false; readonly because: 'rate'; readonly rule: string; readonly retryAfterMs: number };

export interface Settlement {
  readonly outcome: LogEntry & { readonly callId: string };
  /** Absent: nothing ran that could be charged. */
  readonly charge?: Charge | undefined;
  /** The plan whose step this was. Absent: none. */
  readonly planId?: string | undefined;
  /** Absent: the session did nothing wrong. */
  readonly misconduct?: Misconduct | undefined;
  /**
   * What happens to the dedupe key: a success is stored under it, an unknown effect keeps it taken, all else frees it.
   */
  readonly dedupe?:
    | {
        readonly sessionId: string;
        readonly key: string;
        readonly isUnknown?: boolean;
        /** Encrypted with a key that the store does not have. */
        readonly sealedOutput?: Uint8Array;
        readonly kept?: KeptResult;
      }
    | undefined;
}

/**
 * Where calls are admitted, settled and recorded. All methods may be called concurrently.
 *
 * Durability: a promise resolves only after the change is on disk and survives kill -9 and power loss. Writes of
 * concurrent callers share commits. Order: the log keeps the order in which writes were accepted.
 *
 * Failure: a write that could not be made durable rejects, and so does every later one (`sealed`), because a log
 * with a hole proves nothing. Reads still work. When the cause is gone and the log on disk was verified, writes work
 * again; outcomes that could not be recorded meanwhile are recorded then.
 */
export interface Ledger {
  /**
   * One transaction: checks that what the gates read has not changed and that the session is active, charges budget and
   * limits if there is room, and writes the intent.
   */
  readonly admit: (admission: Admission) => Promise<Admitted>;
  /** Writes the outcome and closes the intent. Rejects when no such intent is open. */
  readonly settle: (settlement: Settlement) => Promise<{ readonly index: number }>;
  /** Writes a record that needs no intent: a refusal or an event. */
  readonly append: (entry: LogEntry, misconduct?: Misconduct) => Promise<{ readonly index: number }>;
  /** How many writes are not durable yet. */
  readonly unwritten: () => number;
  /** Why nothing can be written. Absent: writes work. */
  readonly sealed: () => string | undefined;
  /** Called whenever the store seals itself. */
  readonly onSealed: (listener: (reason: string) => void) => void;
  /** Called when writes work again after a seal, with the reason of the seal. */
  readonly onHealed: (listener: (reason: string) => void) => void;
  /** Reads all of log and state in the background, and seals the store when something else changed them. */
  readonly verifyInBackground: () => void;
  /** Signs what is not yet signed and closes. Writes after this reject. */
  readonly close: () => Promise<void>;
}
