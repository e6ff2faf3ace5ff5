import type { Change } from '../../call/journal.ts';

/** Changes of one call that are about to be made, in their order. */
export interface NewJournalEntries {
  readonly callId: string;
  /** The call of the pipeline that this call was a step of. Absent: it was none. */
  readonly parentCallId?: string;
  readonly sessionId: string;
  readonly traceId: string;
  /** By its canonical name. */
  readonly tool: string;
  readonly agent: string;
  readonly atMs: number;
  readonly changes: readonly Change[];
}

export interface JournalEntry extends Change, Omit<NewJournalEntries, 'changes'> {
  /** Grows with every entry. */
  readonly position: number;
}

/** By call with its steps, by run, by session, or by path, now or before; else all entries. */
export type JournalFilter =
  | { readonly callId: string }
  | { readonly traceId: string }
  | { readonly sessionId: string }
  | { readonly path: string }
  | Readonly<Record<string, never>>;

/** What calls were about to change, for undo: hashes only. The bytes are in the trash. */
export interface JournalRepository {
  readonly writeJournal: (entries: NewJournalEntries) => Promise<void>;
  /** Oldest first; of more than `limit` the newest. */
  readonly readJournal: (filter: JournalFilter, limit: number) => Promise<readonly JournalEntry[]>;
  /** Adds the state afterwards to the newest entry of this call about this path that lacks it. */
  readonly completeJournal: (callId: string, path: string, after: Change['after']) => Promise<boolean>;
  /** Forgets entries that were written before this moment. Returns how many. */
  readonly dropJournal: (beforeMs: number) => Promise<number>;
  /** Every name in the trash that an entry refers to. */
  readonly listKept: () => Promise<ReadonlySet<string>>;
}
