import type { LogSource } from '../../audit/verify.ts';
import type { StoredCheckpoint, StoredRecord } from '../stores.ts';
import { Database } from './database.ts';
import type { Row } from './database.ts';

/** A log to be judged, as it stood when it was opened. Holds one read transaction until it is closed. */
export interface OpenLog extends LogSource {
  readonly size: number;
  readonly close: () => void;
}

/**
 * Reads the log without the daemon, or beside it. What the daemon writes meanwhile is not seen. Nothing in the file is
 * believed: whoever could change it may have changed the schema as well, so values come back as they are stored.
 */
export function openLog(databaseFile: string): OpenLog {
  const database = Database.openForReading(databaseFile);
  try {
    database.execute('BEGIN');
    const records = database.prepare(
      `SELECT ${whole('position')} AS position, leaf, salt, payload, tag FROM records ORDER BY records.position`,
    );
    const checkpoints = database.prepare(
      `SELECT ${whole('size')} AS size, note FROM checkpoints ORDER BY checkpoints.size`,
    );
    return {
      size: database.readNumber('SELECT count(*) FROM records'),
      records: () => mapRows(records.iterate(), readRecord),
      checkpoints: () => mapRows(checkpoints.iterate(), readCheckpoint),
      close: () => database.close(),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** A place or size that a number cannot hold is none of ours, and reading it would throw. */
function whole(column: string): string {
  const fits = `typeof(${column}) = 'integer' AND ${column} BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER}`;
  return `iif(${fits}, ${column}, -1)`;
}

export function readRecord(row: Row): StoredRecord {
  const { salt, payload } = row;
  return {
    index: Number(row['position']),
    leaf: row['leaf'] as Uint8Array,
    // Erasure takes both. One alone is kept as it is, for the verifier to object.
    ...(salt === null ? {} : { salt: salt as Uint8Array }),
    ...(payload === null ? {} : { payload: payload as string }),
    tag: row['tag'] as Uint8Array,
  };
}

function readCheckpoint(row: Row): StoredCheckpoint {
  return { size: Number(row['size']), note: String(row['note']) };
}

function* mapRows<Item>(rows: Iterable<Row>, read: (row: Row) => Item): Generator<Item> {
  for (const row of rows) yield read(row);
}
