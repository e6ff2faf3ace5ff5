import type { EntryState } from '../../../call/journal.ts';
import type { JournalEntry, JournalFilter } from '../../stores.ts';
import type { Database, Row, Statement } from '../database.ts';

/** The reading half of the journal. */
export class JournalReader {
  readonly #select: Record<'byCall' | 'byTrace' | 'bySession' | 'byPath' | 'all' | 'kept', Statement>;

  constructor(database: Database) {
    const newest = (where: string): Statement =>
      database.prepare(`SELECT * FROM journal WHERE ${where} ORDER BY position DESC LIMIT ?2`);
    this.#select = {
      byCall: newest('call_id = ?1 OR parent_call_id = ?1'),
      byTrace: newest('trace_id = ?1'),
      bySession: newest('session_id = ?1'),
      byPath: newest('path = ?1'),
      all: database.prepare('SELECT * FROM journal ORDER BY position DESC LIMIT ?1'),
      kept: database.prepare('SELECT DISTINCT kept FROM journal WHERE kept IS NOT NULL'),
    };
  }

  read(filter: JournalFilter, limit: number): readonly JournalEntry[] {
    return this.#find(filter, limit).map(readEntry).toReversed();
  }

  listKept(): ReadonlySet<string> {
    return new Set(this.#select.kept.all().map(({ kept }) => String(kept)));
  }

  #find(filter: JournalFilter, limit: number): Row[] {
    if ('callId' in filter) return this.#select.byCall.all(filter.callId, limit);
    if ('traceId' in filter) return this.#select.byTrace.all(filter.traceId, limit);
    if ('sessionId' in filter) return this.#select.bySession.all(filter.sessionId, limit);
    return 'path' in filter ? this.#select.byPath.all(filter.path, limit) : this.#select.all.all(limit);
  }
}

function readEntry(row: Row): JournalEntry {
  const { parent_call_id: parentCallId, kept, moved_to: movedTo } = row;
  return {
    position: Number(row['position']),
    callId: String(row['call_id']),
    ...(parentCallId === null ? {} : { parentCallId: String(parentCallId) }),
    sessionId: String(row['session_id']),
    traceId: String(row['trace_id']),
    tool: String(row['tool']),
    agent: String(row['agent']),
    atMs: Number(row['at_ms']),
    path: String(row['path']),
    before: JSON.parse(String(row['before'])) as EntryState,
    after: JSON.parse(String(row['after'])) as EntryState,
    ...(kept === null ? {} : { kept: String(kept) }),
    ...(movedTo === null ? {} : { movedTo: String(movedTo) }),
  };
}
