import type { Database, Row, Statement } from '../database.ts';

// Where the records of a call are. A table of its own, because an index would be written by every commit: it is filled
// with each checkpoint, many records at once, and holds the records below the newest one.

/** The call that a record is about, as the leaf says; zeros if there is none. */
const callOf = 'substr(records.leaf, 13, 16)';
const hasCall = `${callOf} <> zeroblob(16)`;
const signedSize = '(SELECT coalesce(max(size), 0) FROM checkpoints)';

/** Inside the transaction of a checkpoint. Takes from where on the records are not in the table, and the new size. */
export function prepareFiling(database: Database): Statement {
  return database.prepare(
    `INSERT INTO record_calls (call_id, position) SELECT ${callOf}, position FROM records
     WHERE position >= ? AND position < ? AND ${hasCall}`,
  );
}

/** The table only says where to look: what the record says counts. */
const inTable = `SELECT records.* FROM record_calls JOIN records USING (position)
  WHERE record_calls.call_id = ? AND ${callOf} = record_calls.call_id`;
const unsigned = `SELECT records.* FROM records WHERE position >= ${signedSize} AND ${callOf} = ?`;

/** The oldest 1000 records of a call. */
export function callRecords(database: Database): (callId: string) => Row[] {
  // A database of an earlier version, read without the daemon, has an index instead.
  const hasTable = database.readNumber(`SELECT count(*) FROM sqlite_schema WHERE name = 'record_calls'`) === 1;
  const rows = hasTable
    ? `${inTable} UNION ALL ${unsigned}`
    : `SELECT records.* FROM records WHERE ? = ${callOf} AND ${callOf} = ?`;
  const select = database.prepare(`${rows} ORDER BY position LIMIT 1000`);
  return (callId) => {
    const bytes = Buffer.from(callId.replaceAll('-', ''), 'hex');
    return select.all(bytes, bytes);
  };
}

/** Whether the table has every record below the newest checkpoint that is about a call, and no other. */
export function hasAllCalls(database: Database): boolean {
  const filed = database.readNumber('SELECT count(*) FROM record_calls');
  const right = database.readNumber(
    `SELECT count(*) FROM records CROSS JOIN record_calls
     ON record_calls.call_id = ${callOf} AND record_calls.position = records.position`,
  );
  const due = database.readNumber(`SELECT count(*) FROM records WHERE position < ${signedSize} AND ${hasCall}`);
  return filed === due && right === due;
}
