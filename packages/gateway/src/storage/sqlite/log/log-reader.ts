import { covers, hashBytes, leafBytes, parseRemoval, saltBytes } from '@sallyport/log';
import type { NodeReader, PackedRecords, StoredCheckpoint, StoredRecord } from '@sallyport/log';
import { ArchiveFolder } from '../../archive/archive-folder.ts';
import type { KeptLog, SealedSecret } from '../../stores.ts';
import { Database } from '../database.ts';
import type { Row, Statement } from '../database.ts';
import { readNodes } from './log-nodes.ts';
import { callRecords } from './record-calls.ts';
import { judgeState } from '../state/judge-state.ts';

type Fill = (record: StoredRecord) => StoredRecord;

const rowsPerRead = 500;
/** Of a packed record without payload. */
const erasedBytes = 1 + leafBytes + hashBytes;
const beforeFirstRow = '-1e300';

/** A row in the packed form for the verifier. Null: one of its parts has another type or length. */
const packedRow = `CASE
  WHEN NOT (${isBlob('leaf', leafBytes)} AND ${isBlob('tag', hashBytes)}) THEN NULL
  WHEN typeof(payload) = 'text' AND ${isBlob('salt', saltBytes)}
    THEN CAST(x'00' || leaf || x'02' || salt || payload || tag AS BLOB)
  WHEN salt IS NULL AND payload IS NULL THEN CAST(x'00' || leaf || tag AS BLOB)
END`;

function isBlob(column: string, bytes: number): string {
  return `typeof(${column}) = 'blob' AND length(${column}) = ${bytes}`;
}

/**
 * Reads the log without the daemon, or while it runs, and does not see what it writes meanwhile. Nothing in the file is
 * trusted: an attacker who changed it may have changed the schema as well, so values come back as they are stored.
 * Holds one read transaction until it is closed.
 */
export function openLog(databaseFile: string, archiveFolder?: string): KeptLog {
  const database = Database.openForReading(databaseFile);
  try {
    database.execute('BEGIN');
    refuseForeignTables(database);
    const portion = `FROM records WHERE rowid > CAST(? AS NUMERIC) ORDER BY rowid LIMIT ${rowsPerRead}`;
    const records = database.prepare(
      `SELECT CAST(rowid AS TEXT) AS row, ${whole('position')} AS position, leaf, salt, payload, tag ${portion}`,
    );
    const packed = database.prepare(
      `SELECT count(*) AS rows, CAST(max(row) AS TEXT) AS last, group_concat(position) AS indexes, count(bytes) AS packed,
         CAST(group_concat(bytes, '') AS BLOB) AS bytes, group_concat(octet_length(bytes)) AS lengths
       FROM (SELECT rowid AS row, ${whole('position')} AS position, ${packedRow} AS bytes ${portion})`,
    );
    const checkpoints = database.prepare(
      `SELECT ${whole('size')} AS size, note FROM checkpoints ORDER BY checkpoints.size`,
    );
    // Prepared when they are asked: a table that lacks a column can still be judged.
    const ask = (sql: string) => database.prepare(sql);
    let readNode: NodeReader | undefined;
    const archive = archiveFolder === undefined ? undefined : new ArchiveFolder(archiveFolder);
    const fill: Fill = (record) => archive?.fillUnchecked(record) ?? record;
    const size = database.readNumber('SELECT count(*) FROM records');
    return {
      size,
      records: () => readInPortions(records, size, fill),
      packedRecords: () => readPacked({ packed, records }, size, archive?.isEmpty === false ? fill : undefined),
      checkpoints: () => readCheckpoints(checkpoints),
      hasArchiveOf: (index) => archive?.has(index) ?? false,
      recordAt: (index) => ask('SELECT * FROM records WHERE position = ?').all(index).map(readRecord).map(fill)[0],
      recordsOfCall: (callId) => callRecords(database)(callId).map(readRecord).map(fill),
      erasureOf: (index) => findErasure(ask, index),
      lastCheckpoint: () =>
        [...readCheckpoints(ask('SELECT size, note FROM checkpoints ORDER BY size DESC LIMIT 1'))][0],
      readNode: (level, index) => (readNode ??= readNodes(database))(level, index),
      listSecrets: () => listSecrets(database),
      judgeState: (stateKey) => judgeState(database, stateKey),
      close: () => database.close(),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** The table only says where to look; the verifier of a receipt judges the records there. */
function findErasure(ask: (sql: string) => Statement, index: number): StoredRecord | undefined {
  // A database of an earlier version has erased nothing.
  if (ask(`SELECT 1 FROM sqlite_schema WHERE name = 'removals'`).get() === undefined) return undefined;
  const told = ask(
    `SELECT records.* FROM removals JOIN records USING (position)
     WHERE removals.kind = 'erased' AND position > ? ORDER BY position`,
  );
  for (const row of told.iterate(index)) {
    const record = readRecord(row);
    const removal = parseRemoval(String(record.payload), record.index);
    if (removal !== undefined && covers(removal, index)) return record;
  }
  return undefined;
}

/** The gate never writes a place or size that a number cannot hold, and reading one would throw. */
function whole(column: string): string {
  const fits = `typeof(${column}) = 'integer' AND ${column} BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER}`;
  return `iif(${fits}, ${column}, -1)`;
}

export function readRecord(row: Row): StoredRecord {
  const { salt, payload } = row;
  return {
    index: Number(row['position']),
    leaf: row['leaf'] as Uint8Array,
    // An erasure removes both. One alone stays as it is, so that the verifier reports it.
    ...(salt === null ? {} : { salt: salt as Uint8Array }),
    ...(payload === null ? {} : { payload: payload as string }),
    tag: row['tag'] as Uint8Array,
  };
}

/** Gives records the payloads that are in an archive. */
export function archiveFiller(folder: string | undefined): Fill {
  if (folder === undefined) return (record) => record;
  const archive = new ArchiveFolder(folder);
  return (record) => archive.fill(record);
}

/** Portions cost a third less than one row at a time. */
function* readInPortions(statement: Statement, size: number, fill: Fill): Generator<StoredRecord> {
  let read = 0;
  for (let after = beforeFirstRow; ;) {
    const rows = statement.all(after);
    read += rows.length;
    // A column that poses as the number of the row could hide rows, or show some of them for ever.
    if (read > size || (rows.length === 0 && read < size)) throw notOurs();
    if (rows.length === 0) return;
    for (const row of rows) yield fill(readRecord(row));
    after = String(rows.at(-1)?.['row']);
  }
}

/**
 * A portion is one row of the answer. One that holds a record with unusual parts, or one whose payload may be in an
 * archive, comes record by record.
 */
function* readPacked(
  { packed, records }: { readonly packed: Statement; readonly records: Statement },
  size: number,
  fill: Fill | undefined,
): Generator<PackedRecords | StoredRecord> {
  let read = 0;
  for (let after = beforeFirstRow; ;) {
    const { rows, packed: usual, last, indexes, lengths, bytes } = packed.get(after) ?? {};
    read += Number(rows);
    if (read > size || (rows === 0 && read < size)) throw notOurs();
    if (rows === 0) return;
    const isWhole = fill === undefined || !readNumbers(lengths).includes(erasedBytes);
    if (usual === rows && isWhole) {
      const { buffer, byteOffset, byteLength } = bytes as Uint8Array<ArrayBuffer>;
      yield {
        ...{ bytes: Buffer.from(buffer, byteOffset, byteLength) },
        ...{ lengths: readNumbers(lengths), indexes: readNumbers(indexes) },
      };
    } else {
      for (const row of records.all(after)) yield fill?.(readRecord(row)) ?? readRecord(row);
    }
    after = String(last);
  }
}

function readNumbers(list: Row[string] | undefined): number[] {
  return String(list).split(',').map(Number);
}

function* readCheckpoints(statement: Statement): Generator<StoredCheckpoint> {
  for (const row of statement.iterate()) yield { size: Number(row['size']), note: String(row['note']) };
}

function listSecrets(database: Database): SealedSecret[] {
  const rows = database.prepare('SELECT name, ciphertext, updated_at_ms FROM secrets').all();
  return rows.map((row) => ({
    name: String(row['name']),
    ciphertext: row['ciphertext'] as Uint8Array,
    updatedAtMs: Number(row['updated_at_ms']),
  }));
}

/** A view could show the verifier another history than the daemon sees. */
function refuseForeignTables(database: Database): void {
  const tables = `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name IN ('records', 'checkpoints')`;
  if (database.readNumber(tables) !== 2) throw notOurs();
}

function notOurs(): Error {
  return new ForeignTables('its tables are not those that Sallyport makes');
}

/** Somebody changed the tables, so that reading them shows nothing. */
export class ForeignTables extends Error {}
