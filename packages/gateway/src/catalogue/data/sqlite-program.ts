// Runs in the sandbox, in a process of its own that sees one database and nothing else of the machine. It is started as
// text, so it imports nothing but what Node brings. It reads one question from standard input and writes one answer.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { constants, DatabaseSync } from 'node:sqlite';
import type { StatementSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

interface Question {
  readonly file: string;
  readonly sql: string;
  readonly parameters: readonly (string | number | boolean | null)[];
  readonly access: 'read' | 'write';
  readonly maxRows: number;
  readonly maxBytes: number;
  readonly waitMs: number;
}

type Cell = string | number | null | { readonly base64: string };

/** Pragmas that only tell something about the database. */
const tellingPragmas = new Set([
  ...['table_info', 'table_xinfo', 'table_list', 'index_list', 'index_info', 'index_xinfo', 'foreign_key_list'],
  ...['database_list', 'collation_list', 'function_list', 'module_list', 'pragma_list', 'compile_options'],
]);
const reading = new Set<number>([
  constants.SQLITE_SELECT,
  constants.SQLITE_READ,
  constants.SQLITE_FUNCTION,
  constants.SQLITE_RECURSIVE,
  constants.SQLITE_PRAGMA,
]);
/** They reach beyond the database, or beyond the one statement. */
const neverAllowed = new Set<number>([
  constants.SQLITE_ATTACH,
  constants.SQLITE_DETACH,
  constants.SQLITE_TRANSACTION,
  constants.SQLITE_SAVEPOINT,
]);

function authorize(access: Question['access']) {
  return (action: number, first: string | null, second: string | null): number => {
    const isRefused =
      neverAllowed.has(action) ||
      (access === 'read' && !reading.has(action)) ||
      (action === constants.SQLITE_PRAGMA && !tellingPragmas.has(String(first).toLowerCase())) ||
      (action === constants.SQLITE_FUNCTION && String(second).toLowerCase() === 'load_extension');
    return isRefused ? constants.SQLITE_DENY : constants.SQLITE_OK;
  };
}

interface Opened {
  readonly database: DatabaseSync;
  /** Whether SQLite takes the file for one that nobody changes, and does not lock it. */
  readonly isUnlocked: boolean;
}

function open({ file, access, waitMs }: Question): Opened {
  const options = { readOnly: access === 'read', allowExtension: false, timeout: waitMs, defensive: true };
  const database = new DatabaseSync(file, options);
  if (access === 'write' || canRead(database)) return { database, isUnlocked: false };
  // In WAL mode SQLite wants files beside the database that only a writer can make. As long as no program has it open,
  // all of it is in the one file.
  database.close();
  if (existsSync(`${file}-wal`) || existsSync(`${file}-journal`)) {
    throw new Error('it has changes that were never finished; a program that may change it has to open it first');
  }
  const address = pathToFileURL(file);
  address.searchParams.set('immutable', '1');
  return { database: new DatabaseSync(address, options), isUnlocked: true };
}

function restrict(database: DatabaseSync, access: Question['access']): void {
  // What this Node cannot refuse would not be refused.
  if (typeof database.setAuthorizer !== 'function') throw new Error('the Node of the gate is too old for databases');
  if (access === 'read') database.exec('PRAGMA query_only = ON');
  database.setAuthorizer(authorize(access));
}

function canRead(database: DatabaseSync): boolean {
  try {
    database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get();
    return true;
  } catch (error) {
    // SQLITE_CANTOPEN
    if (((error as { errcode?: number }).errcode ?? 0) % 256 === 14) return false;
    throw error;
  }
}

/** One statement, or an error. SQLite itself would leave out what follows the first. */
function prepareOnly(database: DatabaseSync, sql: string): StatementSync {
  const statement = database.prepare(sql);
  const rest = sql.slice(statement.sourceSQL.length);
  try {
    database.prepare(rest);
  } catch (error) {
    if (error instanceof Error && /contains no statements/.test(error.message)) return statement;
  }
  throw new Error('there is more than one statement; send one at a time');
}

function readCell(value: unknown): Cell {
  if (value === null || typeof value === 'string') return value === null ? null : value.toWellFormed();
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : String(value);
  }
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  return { base64: Buffer.from(value as Uint8Array).toString('base64') };
}

function bind(value: Question['parameters'][number]): string | number | bigint | null {
  if (typeof value === 'boolean') return value ? 1n : 0n;
  // SQLite tells whole numbers from others, and JSON does not.
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
}

function answer(question: Question): object {
  const before = statSync(question.file).mtimeMs;
  const { database, isUnlocked } = open(question);
  restrict(database, question.access);
  const statement = prepareOnly(database, question.sql);
  statement.setReadBigInts(true);
  statement.setReturnArrays(true);
  const parameters = question.parameters.map(bind);
  const columns = statement.columns().map(({ name, type }) => ({ name, ...(type === null ? {} : { type }) }));
  if (columns.length === 0) {
    const { changes } = statement.run(...parameters);
    return { columns, rows: [], truncated: false, changes: Number(changes) };
  }
  const rows: Cell[][] = [];
  let size = 0;
  let truncated = false;
  let count = 0;
  for (const row of statement.iterate(...parameters) as Iterable<unknown>) {
    count++;
    const cells = (row as readonly unknown[]).map(readCell);
    size += JSON.stringify(cells).length;
    if (rows.length === question.maxRows || size > question.maxBytes) {
      truncated = true;
      // What changes rows has to see all of them.
      if (question.access === 'read') break;
    } else rows.push(cells);
  }
  if (question.access === 'write') return { columns, rows, truncated, changes: count };
  if (isUnlocked && statSync(question.file).mtimeMs !== before) {
    throw new Error('it was changed meanwhile; try again');
  }
  return { columns, rows, truncated };
}

try {
  const question = JSON.parse(readFileSync(0, 'utf8')) as Question;
  process.stdout.write(JSON.stringify(answer(question)));
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  const isRefused = message === 'not authorized';
  process.stdout.write(JSON.stringify({ error: isRefused ? 'this connection is not authorized to do that' : message }));
}
