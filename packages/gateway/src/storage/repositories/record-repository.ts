import type { StoredCheckpoint, StoredRecord } from '@sallyport/log';

/** Intents without outcome. After a start these are the calls that a crash cut off. */
export interface OpenIntent {
  readonly callId: string;
  readonly index: number;
  readonly sessionId: string;
  readonly timeMs: number;
}

/** A record of a call that was decided: an intent or a refusal. */
export interface DecidedRecord {
  readonly index: number;
  /**
   * The id of its session in 32 hexadecimal digits (zeros: none), then its payload without the parts that belong to
   * this call alone, such as its ids. It is the same for calls that are alike.
   */
  readonly likeness: string;
}

/** Reads the log. Ranges do not include their end. */
export interface RecordRepository {
  /** Oldest first. */
  readonly listOpenIntents: () => Promise<readonly OpenIntent[]>;
  readonly logSize: () => Promise<number>;
  readonly readRecords: (fromIndex: number, limit: number) => Promise<readonly StoredRecord[]>;
  /** The same without the payloads that are in archives. */
  readonly readStored: (fromIndex: number, limit: number) => Promise<readonly StoredRecord[]>;
  /** Erased ones are left out. In the order of the log. */
  readonly readDecided: (fromIndex: number, toIndex: number) => Promise<readonly DecidedRecord[]>;
  /** The records of one call, in the order of the log, at most 1000. */
  readonly readRecordsOfCall: (callId: string) => Promise<readonly StoredRecord[]>;
  readonly lastCheckpoint: () => Promise<StoredCheckpoint | undefined>;
}
