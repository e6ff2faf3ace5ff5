import { ConfigError } from '../../../call/fault.ts';
import type { Database } from '../database.ts';
import { findChangedTables, readKeptState } from './kept-state.ts';
import { hasAllCalls } from '../log/record-calls.ts';
import { checkSchema, readSchemaVersion, schemaVersion } from '../migrations.ts';
import { deriveStateKeys } from './state-sums.ts';
import { stateGroups } from './state-tables.ts';

/**
 * What something other than the gate has changed in the state, in words. Inside a transaction that also reads the log.
 */
export function judgeState(database: Database, stateKey: string): readonly string[] {
  return [
    ...judgeSchema(database),
    ...judgeRows(database, stateKey),
    ...judgeIndexes(database),
    ...judgeCalls(database),
  ];
}

function judgeSchema(database: Database): readonly string[] {
  // A database of another version is migrated, and checked, at the next start.
  if (readSchemaVersion(database) !== schemaVersion) return [];
  try {
    checkSchema(database);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return [error.message];
    throw error;
  }
}

function judgeRows(database: Database, stateKey: string): readonly string[] {
  const keys = deriveStateKeys(stateKey);
  const { kept } = readKeptState(database, keys);
  if (kept === undefined) return ['What authenticates the state of the gate was changed.'];
  const size = database.readNumber('SELECT coalesce(max(position) + 1, 0) FROM records');
  if (size !== kept.position) return [`The state belongs to a log of ${kept.position} records; the log has ${size}.`];
  const changed = findChangedTables(database, keys, kept.sums, 'all');
  return changed.map((table) => `Rows were added, changed, removed or put back in: ${table}.`);
}

/** Whether the tables of the state and their indexes agree: a lookup trusts the index. */
function judgeIndexes(database: Database): readonly string[] {
  const tables = new Set(stateGroups.map(({ table }) => table));
  const present = database
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`)
    .all()
    .map(({ name }) => String(name));
  return present.filter((name) => tables.has(name)).flatMap((table) => checkIntegrity(database, `'${table}'`));
}

function judgeCalls(database: Database): readonly string[] {
  if (readSchemaVersion(database) !== schemaVersion || hasAllCalls(database)) return [];
  return ['The table that says which records belong to a call does not agree with the log.'];
}

/** `what`: a table, or how many problems of the whole database to report. */
export function checkIntegrity(database: Database, what: string): readonly string[] {
  return database
    .prepare(`PRAGMA integrity_check(${what})`)
    .all()
    .flatMap(({ integrity_check: problem }) => (problem === 'ok' ? [] : [`The database: ${String(problem)}.`]));
}
