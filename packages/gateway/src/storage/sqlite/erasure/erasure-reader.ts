import type { StoredRecord } from '@sallyport/log';
import type { ErasedRows, Erasure, NewErasure, Retention } from '../../stores.ts';
import type { Database, Row, Statement } from '../database.ts';
import { readRecord } from '../log/log-reader.ts';
import { bindRows, selectJournal } from './erased-rows.ts';

/** Reads what is to be erased, on any connection. */
export class ErasureReader {
  readonly #sql: Record<'list' | 'find' | 'next' | 'due' | 'kept' | 'content' | 'retention' | 'removals', Statement>;

  constructor(database: Database) {
    this.#sql = {
      list: database.prepare('SELECT * FROM erasures ORDER BY id DESC LIMIT ?'),
      find: database.prepare('SELECT * FROM erasures WHERE id = ?'),
      next: database.prepare(
        `SELECT * FROM erasures WHERE status = 'running' OR (status = 'waiting' AND due_at_ms <= ?)
         ORDER BY status, due_at_ms LIMIT 1`,
      ),
      due: database.prepare(`SELECT min(due_at_ms) AS due FROM erasures WHERE status = 'waiting'`),
      kept: database.prepare(
        `SELECT DISTINCT kept FROM journal WHERE kept IS NOT NULL AND (${selectJournal})
           AND kept NOT IN (SELECT kept FROM journal WHERE kept IS NOT NULL AND NOT (${selectJournal}))`,
      ),
      content: database.prepare(
        `SELECT hash FROM content WHERE NOT EXISTS (SELECT 1 FROM artifacts WHERE content_hash = content.hash)
           AND (last_used_ms < ?2 OR (EXISTS (SELECT 1 FROM content_grants AS held WHERE held.hash = content.hash)
             AND NOT EXISTS (SELECT 1 FROM content_grants AS held
               WHERE held.hash = content.hash AND held.session_id NOT IN (SELECT value FROM json_each(?1)))))`,
      ),
      removals: database.prepare(
        'SELECT records.* FROM removals JOIN records USING (position) WHERE removals.kind = ? ORDER BY position',
      ),
      retention: database.prepare(`SELECT value FROM settings WHERE name = 'retention'`),
    };
  }

  list(limit: number): readonly Erasure[] {
    return this.#sql.list.all(limit).map(readErasure);
  }

  find(id: string): Erasure | undefined {
    return this.#sql.find.all(id).map(readErasure)[0];
  }

  next(nowMs: number): Erasure | undefined {
    return this.#sql.next.all(nowMs).map(readErasure)[0];
  }

  nextDueMs(): number | undefined {
    const due = this.#sql.due.get()?.['due'] ?? null;
    return due === null ? undefined : Number(due);
  }

  keptOnlyFor(rows: ErasedRows): readonly string[] {
    return this.#sql.kept.all(bindRows(rows, ['calls', 'sessions', 'before', 'until'])).map(({ kept }) => String(kept));
  }

  contentOnlyFor({ sessionIds, beforeMs }: Pick<ErasedRows, 'sessionIds' | 'beforeMs'>): readonly string[] {
    return this.#sql.content.all(JSON.stringify(sessionIds), beforeMs ?? -1).map(({ hash }) => String(hash));
  }

  removals(kind: 'erased' | 'archived'): readonly StoredRecord[] {
    return this.#sql.removals.all(kind).map(readRecord);
  }

  retention(): Retention | undefined {
    const value = this.#sql.retention.get()?.['value'];
    return value === undefined ? undefined : (JSON.parse(String(value)) as Retention);
  }
}

function readErasure(row: Row): Erasure {
  const { started_at_ms: startedAtMs, ended_at_ms: endedAtMs, cancelled_by: cancelledBy } = row;
  return {
    ...(JSON.parse(String(row['erasure'])) as NewErasure),
    status: row['status'] as Erasure['status'],
    ...(startedAtMs === null ? {} : { startedAtMs: Number(startedAtMs) }),
    untilIndex: Number(row['until_index']),
    nextIndex: Number(row['next_index']),
    erasedRecords: Number(row['erased_records']),
    ...(endedAtMs === null ? {} : { endedAtMs: Number(endedAtMs) }),
    ...(cancelledBy === null ? {} : { cancelledBy: String(cancelledBy) }),
  };
}
