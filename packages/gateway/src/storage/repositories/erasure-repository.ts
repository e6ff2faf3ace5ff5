import type { StoredRecord } from '@sallyport/log';
import type { Redacted } from '../../call/redacted.ts';

/** Whose records are erased. */
export type ErasureSubject =
  /** All their sessions. */
  | { readonly kind: 'agent' | 'person'; readonly name: string }
  | { readonly kind: 'session'; readonly id: string }
  /** A call with its steps and with what a person decided about it: worked out when it was asked for. */
  | {
      readonly kind: 'call';
      readonly id: string;
      readonly callIds: readonly string[];
      readonly decisionIds: readonly string[];
      /** Results that are kept as content for these calls only. */
      readonly contentHashes: readonly string[];
    }
  /** Calls that ended before this moment. */
  | { readonly kind: 'before'; readonly timeMs: number };

/** What to erase, because a person asked for it or because of `keep_payload_days`. */
export interface NewErasure {
  /** UUID version 7. */
  readonly id: string;
  readonly subject: ErasureSubject;
  readonly reason: Redacted;
  /** The person. Absent: the rules say how long payloads are kept. */
  readonly requestedBy?: string;
  readonly requestedAtMs: number;
  /** Nothing is erased before. */
  readonly dueAtMs: number;
  /** An earlier erasure covered all records before this one. Absent: the log is read from its beginning. */
  readonly fromIndex?: number;
}

export interface Erasure extends NewErasure {
  /** `running`: it has begun, and goes on after a crash. Only a waiting one can be cancelled. */
  readonly status: 'waiting' | 'running' | 'done' | 'cancelled';
  /** Absent: it has not begun. */
  readonly startedAtMs?: number;
  /** The end of the log when the erasure began; newer records stay. */
  readonly untilIndex: number;
  /** How far it has come in the log. */
  readonly nextIndex: number;
  readonly erasedRecords: number;
  /** When it was done, or cancelled. */
  readonly endedAtMs?: number;
  readonly cancelledBy?: string;
}

/** Rows beside the log with content of calls: of these calls, of these sessions, or older than a moment. */
export interface ErasedRows {
  readonly callIds: readonly string[];
  /** Tasks of approval and plans that belong to these calls. */
  readonly decisionIds: readonly string[];
  readonly sessionIds: readonly string[];
  /** Rows of any call from before. Absent: age alone erases nothing. */
  readonly beforeMs?: number;
  /** Rows of the sessions that are newer than this stay. */
  readonly untilMs: number;
}

/** Payloads and salts of records, taken out of the log. */
export interface RemovedRecords {
  readonly indexes: readonly number[];
  readonly atMs: number;
}

/** How long payloads are kept, as the rules say. */
export interface Retention {
  /** Absent: for ever. */
  readonly days?: number;
  readonly sinceMs: number;
}

/**
 * Removes content from the gate for good. Each change is one transaction, with a record in the log that describes it
 * and is never erased.
 */
export interface ErasureRepository {
  readonly requestErasure: (erasure: NewErasure) => Promise<void>;
  /** False when it is not waiting any more. */
  readonly cancelErasure: (id: string, by: string, atMs: number) => Promise<boolean>;
  /** Newest first. */
  readonly listErasures: (limit: number) => Promise<readonly Erasure[]>;
  /** Records of the log that say which payloads were removed from it, oldest first. */
  readonly listRemovals: (kind: 'erased' | 'archived') => Promise<readonly StoredRecord[]>;
  /** The next one that is due, or has begun and is not done; undefined: none. */
  readonly nextErasure: (nowMs: number) => Promise<Erasure | undefined>;
  /** When the first one that waits is due. Undefined: none waits. */
  readonly nextErasureDueMs: () => Promise<number | undefined>;
  /** Undefined when it was cancelled meanwhile. An erasure that has begun continues unchanged. */
  readonly startErasure: (id: string, atMs: number) => Promise<Erasure | undefined>;
  /** The payloads and salts of these records. Skips those that are already gone. Notes how far it has come. */
  readonly erasePayloads: (id: string, removed: RemovedRecords & { readonly nextIndex: number }) => Promise<void>;
  /** Dedupe results, journal, approvals and plans. A dedupe key stays taken, so that nothing runs twice. */
  readonly eraseRows: (rows: ErasedRows) => Promise<void>;
  /** Names in the trash that only such rows refer to. */
  readonly listKeptOnlyFor: (rows: ErasedRows) => Promise<readonly string[]>;
  /**
   * Hashes of content that only these sessions may use, or that was last used before the moment; never published
   * content.
   */
  readonly listContentOnlyFor: (rows: Pick<ErasedRows, 'sessionIds' | 'beforeMs'>) => Promise<readonly string[]>;
  readonly endErasure: (id: string, atMs: number) => Promise<void>;
  /**
   * Overwrites what erased content may have left in the files of the store. False: that would block calls for too long,
   * and is done when the store closes. `isRoutine`: nobody waits for it, so it must hardly slow calls.
   */
  readonly compact: (how: { readonly isRoutine: boolean }) => Promise<boolean>;
  /** Undefined: never noted. */
  readonly readRetention: () => Promise<Retention | undefined>;
  readonly noteRetention: (retention: Retention) => Promise<void>;
  /** The payloads and salts of these records are in this file by now. */
  readonly archivePayloads: (removed: RemovedRecords & { readonly file: string; readonly by: string }) => Promise<void>;
  /** Drops dedupe keys with their results, and used tokens, that are too old to matter. */
  readonly forgetExpired: (nowMs: number) => Promise<void>;
}
