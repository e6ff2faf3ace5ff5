import type { EntryState } from '../../../call/journal.ts';
import type { NewJournalEntries } from '../../stores.ts';
import type { Database, Statement } from '../database.ts';

/** The writing half of the journal, inside the writer's transaction. */
export class JournalWriter {
  readonly #insert: Statement;
  readonly #complete: Statement;
  readonly #drop: Statement;

  constructor(database: Database) {
    this.#insert = database.prepare(
      `INSERT INTO journal (call_id, parent_call_id, session_id, trace_id, tool, agent, at_ms, path, before, after, kept,
         moved_to) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#complete = database.prepare(
      `UPDATE journal SET after = ? WHERE position =
         (SELECT max(position) FROM journal WHERE call_id = ? AND path = ? AND after = '{"kind":"unknown"}')`,
    );
    this.#drop = database.prepare('DELETE FROM journal WHERE at_ms < ?');
  }

  write({ changes, ...call }: NewJournalEntries): void {
    const { callId, parentCallId = null, sessionId, traceId, tool, agent, atMs } = call;
    for (const { path, before, after, kept = null, movedTo = null } of changes) {
      const states = [JSON.stringify(before), JSON.stringify(after)];
      this.#insert.run(callId, parentCallId, sessionId, traceId, tool, agent, atMs, path, ...states, kept, movedTo);
    }
  }

  complete(callId: string, path: string, after: EntryState): boolean {
    return this.#complete.run(JSON.stringify(after), callId, path) === 1;
  }

  drop(beforeMs: number): number {
    return this.#drop.run(beforeMs);
  }
}
