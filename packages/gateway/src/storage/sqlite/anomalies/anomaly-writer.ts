import type { Anomaly, AnomalyResponse, NewAnomaly } from '../../../call/anomaly.ts';
import { encodeRedacted, ownText } from '../../../call/redacted.ts';
import type { AnomalyProgress, LogEntry } from '../../stores.ts';
import type { Database, Statement } from '../database.ts';
import { readAnomaly } from './anomaly-reader.ts';

/** The writing half of the anomalies, inside the writer's transaction. */
export class AnomalyWriter {
  readonly #insert: Statement;
  readonly #respond: Statement;
  readonly #continue: Statement;
  readonly #told: Statement;
  readonly #see: Statement;
  readonly #find: Statement;

  constructor(database: Database) {
    this.#insert = database.prepare(
      `INSERT INTO anomalies (id, kind, detail, agent, session_id, began_at_ms, last_at_ms, sightings, summary, calls,
         senior, done) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, 1, ?7, ?8, ?9, ?10)`,
    );
    // Joining it with an empty text makes it text instead of JSON, also for the triggers that sum up rows.
    this.#respond = database.prepare(`UPDATE anomalies SET done = json_insert(done, '$[#]', ?2) || '' WHERE id = ?1`);
    this.#continue = database.prepare('UPDATE anomalies SET last_at_ms = ?2, sightings = ?3 WHERE id = ?1');
    this.#told = database.prepare('UPDATE anomalies SET told_at_ms = ?2 WHERE id = ?1');
    this.#see = database.prepare(
      'UPDATE anomalies SET seen_by = ?2, seen_at_ms = ?3 WHERE id = ?1 AND seen_by IS NULL',
    );
    this.#find = database.prepare('SELECT * FROM anomalies WHERE id = ?');
  }

  open({ id, kind, detail, agent, sessionId, ...more }: NewAnomaly, done: readonly AnomalyResponse[]): void {
    const { beganAtMs, summary, calls, senior } = more;
    const texts = [summary, JSON.stringify(calls), senior, JSON.stringify(done)];
    this.#insert.run(id, kind, detail, agent, sessionId, beganAtMs, ...texts);
  }

  noteResponse(id: string, response: AnomalyResponse): void {
    this.#respond.run(id, response);
  }

  continue(progress: readonly AnomalyProgress[]): void {
    for (const { id, lastAtMs, sightings } of progress) this.#continue.run(id, lastAtMs, sightings);
  }

  noteTold(id: string, nowMs: number): void {
    this.#told.run(id, nowMs);
  }

  acknowledge(id: string, by: string, nowMs: number): Anomaly | undefined {
    this.#see.run(id, by, nowMs);
    const row = this.#find.get(id);
    return row && readAnomaly(row);
  }
}

/** Its record in the log: an event that names the calls behind it, and is not a call itself. */
export function recordOf({ id, kind, detail, agent, sessionId, ...more }: NewAnomaly): LogEntry {
  const { beganAtMs, summary, calls, senior } = more;
  const payload = encodeRedacted({
    event: ownText('anomaly_detected'),
    anomaly: ownText(id),
    anomaly_kind: ownText(kind),
    ...(detail === '' ? {} : { detail: ownText(detail) }),
    agent: ownText(agent),
    summary,
    calls: calls.map(({ callId }) => ownText(callId)),
    for: ownText(senior === '' ? 'directors' : senior),
  });
  return { kind: 'event', result: 'none', timeMs: beganAtMs, ...(sessionId === '' ? {} : { sessionId }), payload };
}
