import { rangesOf, spellRanges } from '@sallyport/log';
import { encodeRedacted, ownText } from '../../../call/redacted.ts';
import type { RedactedJson } from '../../../call/redacted.ts';
import type { ErasedRows, Erasure, ErasureSubject, NewErasure, RemovedRecords, Retention } from '../../stores.ts';
import type { Database, Statement } from '../database.ts';
import type { LogAppender } from '../log/log-appender.ts';
import { bindRows, selectDecisions, selectDedupe, selectJournal } from './erased-rows.ts';
import { ErasureReader } from './erasure-reader.ts';

/** Removes content from the log and the tables, inside the writer's transaction, and records it. */
export class ErasureWriter {
  readonly #log: LogAppender;
  readonly #read: ErasureReader;
  readonly #sql: ReturnType<typeof prepare>;

  constructor(database: Database, log: LogAppender) {
    this.#log = log;
    this.#read = new ErasureReader(database);
    this.#sql = prepare(database);
  }

  request(erasure: NewErasure): void {
    const { id, subject, reason, requestedBy, requestedAtMs, dueAtMs } = erasure;
    this.#sql.request.run(id, JSON.stringify(erasure), dueAtMs, erasure.fromIndex ?? 0);
    this.#record(requestedAtMs, {
      event: ownText('erasure_requested'),
      erasure: ownText(id),
      subject: spellSubject(subject),
      reason,
      by: ownText(requestedBy ?? 'retention'),
      due_at_ms: dueAtMs,
    });
  }

  cancel(id: string, by: string, atMs: number): boolean {
    if (this.#sql.cancel.run(atMs, by, id) !== 1) return false;
    this.#record(atMs, { event: ownText('erasure_cancelled'), erasure: ownText(id), by: ownText(by) });
    return true;
  }

  start(id: string, atMs: number): Erasure | undefined {
    this.#sql.start.run(atMs, this.#log.size, id);
    const erasure = this.#read.find(id);
    return erasure?.status === 'running' ? erasure : undefined;
  }

  erasePayloads(id: string, { indexes, nextIndex, atMs }: RemovedRecords & { readonly nextIndex: number }): void {
    this.#sql.anomalies.run({ indexes: JSON.stringify(indexes) });
    this.#remove(indexes, atMs, { event: ownText('payloads_erased'), kind: 'erased', more: { erasure: ownText(id) } });
    this.#sql.advance.run(nextIndex, indexes.length, id);
  }

  archivePayloads({ indexes, atMs, file, by }: RemovedRecords & { readonly file: string; readonly by: string }): void {
    const more = { file: ownText(file), by: ownText(by) };
    this.#remove(indexes, atMs, { event: ownText('payloads_archived'), kind: 'archived', more });
  }

  eraseRows(rows: ErasedRows): void {
    this.#sql.dedupe.run(bindRows(rows, ['calls', 'sessions', 'before', 'until']));
    this.#sql.journal.run(bindRows(rows, ['calls', 'sessions', 'before', 'until']));
    for (const statement of [this.#sql.approvals, this.#sql.plans])
      statement.run(bindRows(rows, ['decisions', 'sessions', 'before', 'until']));
  }

  end(id: string, atMs: number): void {
    if (this.#sql.end.run(atMs, id) !== 1) return;
    const { erasedRecords = 0 } = this.#read.find(id) ?? {};
    this.#record(atMs, { event: ownText('erasure_done'), erasure: ownText(id), erased_records: erasedRecords });
  }

  noteRetention(retention: Retention): void {
    this.#sql.noteRetention.run(JSON.stringify(retention));
    const days = retention.days ?? ownText('for ever');
    this.#record(retention.sinceMs, { event: ownText('retention_changed'), keep_payload_days: days });
  }

  /** The event comes first in the payload, so that a verifier finds such records without reading them all. */
  #remove(
    indexes: readonly number[],
    timeMs: number,
    told: {
      readonly event: RedactedJson;
      readonly kind: string;
      readonly more: { readonly [key: string]: RedactedJson };
    },
  ): void {
    if (indexes.length === 0) return;
    for (const index of indexes) this.#sql.remove.run(index);
    const records = ownText(spellRanges(rangesOf(indexes)));
    const position = this.#record(timeMs, { event: told.event, records, ...told.more });
    this.#sql.noteRemoval.run(position, told.kind);
  }

  #record(timeMs: number, payload: { readonly [key: string]: RedactedJson }): number {
    return this.#log.append({ kind: 'event', result: 'none', timeMs, payload: encodeRedacted(payload) });
  }
}

function spellSubject(subject: ErasureSubject): RedactedJson {
  switch (subject.kind) {
    case 'agent':
    case 'person':
      return { [subject.kind]: ownText(subject.name) };
    case 'session':
    case 'call':
      return { [subject.kind]: ownText(subject.id) };
    case 'before':
      return { before_ms: subject.timeMs };
  }
}

function prepare(
  database: Database,
): Record<
  | ('request' | 'cancel' | 'start' | 'advance' | 'end' | 'remove' | 'noteRemoval' | 'noteRetention')
  | ('dedupe' | 'journal' | 'approvals' | 'plans' | 'anomalies'),
  Statement
> {
  return {
    request: database.prepare(
      `INSERT INTO erasures (id, erasure, status, due_at_ms, next_index) VALUES (?, ?, 'waiting', ?, ?)`,
    ),
    cancel: database.prepare(
      `UPDATE erasures SET status = 'cancelled', ended_at_ms = ?, cancelled_by = ? WHERE id = ? AND status = 'waiting'`,
    ),
    start: database.prepare(
      `UPDATE erasures SET status = 'running', started_at_ms = ?, until_index = ? WHERE id = ? AND status = 'waiting'`,
    ),
    advance: database.prepare('UPDATE erasures SET next_index = ?, erased_records = erased_records + ? WHERE id = ?'),
    end: database.prepare(`UPDATE erasures SET status = 'done', ended_at_ms = ? WHERE id = ? AND status = 'running'`),
    remove: database.prepare('UPDATE records SET salt = NULL, payload = NULL WHERE position = ?'),
    noteRemoval: database.prepare('INSERT INTO removals (position, kind) VALUES (?, ?)'),
    noteRetention: database.prepare(
      `INSERT INTO settings (name, value) VALUES ('retention', ?)
       ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    ),
    dedupe: database.prepare(
      `UPDATE dedupe SET state = 'unknown', sealed = NULL, kept_hash = NULL, kept_bytes = NULL
       WHERE state = 'succeeded' AND (${selectDedupe})`,
    ),
    journal: database.prepare(`DELETE FROM journal WHERE ${selectJournal}`),
    approvals: database.prepare(`DELETE FROM approvals WHERE ${selectDecisions}`),
    // An alert stays without the names of its tools. Text instead of JSON, also for the triggers that sum up rows.
    anomalies: database.prepare(
      `WITH erased (call) AS MATERIALIZED (SELECT DISTINCT lower(hex(substr(leaf, 13, 16))) FROM records
         WHERE position IN (SELECT value FROM json_each(:indexes)))
       UPDATE anomalies SET calls = (SELECT json_group_array(CASE
           WHEN replace(value ->> 'callId', '-', '') IN erased THEN json_set(value, '$.tool', '(erased)')
           ELSE json(value) END) FROM json_each(anomalies.calls)) || ''
       WHERE EXISTS (SELECT 1 FROM json_each(anomalies.calls) WHERE replace(value ->> 'callId', '-', '') IN erased)`,
    ),
    plans: database.prepare(`DELETE FROM plans WHERE ${selectDecisions}`),
  };
}
