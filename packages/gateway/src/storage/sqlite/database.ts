import { backup, DatabaseSync } from 'node:sqlite';
import type { SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';

export type Row = Record<string, null | number | bigint | string | Uint8Array>;

/** The only code that uses node:sqlite, whose interface may still change. */
export class Database {
  readonly #connection: DatabaseSync;

  private constructor(connection: DatabaseSync) {
    this.#connection = connection;
  }

  /** For the writer: WAL, and a commit returns only when the disk has it. */
  static openForWriting(path: string): Database {
    const connection = new DatabaseSync(path, { timeout: 5000 });
    connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;');
    // A row that is replaced is removed, for triggers too.
    connection.exec('PRAGMA recursive_triggers = ON;');
    // Deleted and replaced rows are overwritten, not only unlinked.
    connection.exec('PRAGMA secure_delete = ON;');
    // The checkpoint of SQLite's own journal costs a burst of writes; every 4 MB keeps it rare and the file small.
    connection.exec('PRAGMA wal_autocheckpoint = 1000; PRAGMA journal_size_limit = 16777216;');
    return new Database(connection);
  }

  static openForReading(path: string): Database {
    const connection = new DatabaseSync(path, { readOnly: true, timeout: 5000 });
    connection.exec('PRAGMA query_only = ON;');
    return new Database(connection);
  }

  /** For data that can be rebuilt: a crash may lose the newest commits, but never half of one. */
  static openForIndex(path: string): Database {
    const connection = new DatabaseSync(path, { timeout: 5000 });
    // A page holds one chunk of the index.
    connection.exec('PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
    connection.exec('PRAGMA cache_size = -16384;');
    connection.exec('PRAGMA secure_delete = ON;');
    return new Database(connection);
  }

  /** Node cannot lock files; SQLite can. */
  static openForLocking(path: string): Database {
    return new Database(new DatabaseSync(path, { timeout: 0 }));
  }

  static openInMemory(): Database {
    return new Database(new DatabaseSync(':memory:'));
  }

  /** Lets statements of this connection call `run` under this name. */
  define(name: string, run: (...values: never[]) => null): void {
    this.#connection.function(name, { directOnly: false }, run as (...values: SQLOutputValue[]) => null);
  }

  prepare(sql: string): Statement {
    return new Statement(this.#connection.prepare(sql));
  }

  execute(sql: string): void {
    this.#connection.exec(sql);
  }

  /** Does nothing when SQLite has done it by itself, as it does when the disk is full. */
  rollBack(): void {
    if (this.#connection.isTransaction) this.#connection.exec('ROLLBACK');
  }

  readNumber(sql: string): number {
    const row = this.#connection.prepare(sql).get();
    return Number(Object.values(row ?? { value: 0 })[0] ?? 0);
  }

  /** Copies all of it, as it is at one moment, into a new file. Writers go on meanwhile. */
  async copyTo(path: string): Promise<void> {
    // In one step: a copy in several steps starts over whenever somebody writes.
    await backup(this.#connection, path, { rate: 2 ** 31 - 1 });
  }

  /** Moves all of SQLite's own journal into the file and empties it. False: somebody still reads an earlier state. */
  emptyJournal(): boolean {
    return Number(this.#connection.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy']) === 0;
  }

  /** Rewrites the file: moved rows leave copies in pages, which nothing else overwrites. */
  rewrite(): void {
    this.#connection.exec('VACUUM');
  }

  /** Reads pages from the file again before it uses them. */
  forgetPages(): void {
    this.#connection.exec('PRAGMA shrink_memory');
  }

  close(): void {
    this.#connection.close();
  }
}

/** The values of a statement, in its order or by name. */
type Parameters = SQLInputValue[] | [named: Record<string, SQLInputValue>];

export class Statement {
  readonly #statement: StatementSync;

  constructor(statement: StatementSync) {
    this.#statement = statement;
  }

  get(...parameters: SQLInputValue[]): Row | undefined {
    return this.#statement.get(...parameters);
  }

  all(...parameters: Parameters): Row[] {
    return this.#statement.all(...(parameters as SQLInputValue[]));
  }

  /** The same as lists of values, for many rows: to make an object of each takes as long as to read it. Not both. */
  allLists(...parameters: SQLInputValue[]): readonly (readonly SQLOutputValue[])[] {
    this.#statement.setReturnArrays(true);
    // The types of Node do not say that it gives lists now.
    return this.#statement.all(...parameters) as unknown as SQLOutputValue[][];
  }

  iterate(...parameters: SQLInputValue[]): Iterable<Row> {
    return this.#statement.iterate(...parameters);
  }

  /** For a change whose answer nobody needs: `run` takes an eighth longer, because it makes an object of it. */
  write(...parameters: SQLInputValue[]): void {
    this.#statement.get(...parameters);
  }

  /** Returns how many rows changed. */
  run(...parameters: Parameters): number {
    return Number(this.#statement.run(...(parameters as SQLInputValue[])).changes);
  }
}

/** The primary result codes of SQLite that mean something to us. */
const resultCodes = { error: 1, busy: 5, corrupt: 11, full: 13, constraint: 19, notADatabase: 26 } as const;

function hasResult(error: unknown, ...results: (keyof typeof resultCodes)[]): boolean {
  if (!(error instanceof Error) || !('errcode' in error)) return false;
  const primary = Number(error.errcode) & 0xff;
  return results.some((result) => resultCodes[result] === primary);
}

/** Whether the error concerns this one statement, not the ability to write at all. */
export function isConstraintViolation(error: unknown): boolean {
  return hasResult(error, 'constraint');
}

/** Another process has the lock. */
export function isBusy(error: unknown): boolean {
  return hasResult(error, 'busy');
}

/** The statement names something that is not there. */
export function isFaultOfStatement(error: unknown): boolean {
  return hasResult(error, 'error');
}

/** The reason of the seal in that case. */
export const fullDisk = 'the disk is full';

export function isDiskFull(error: unknown): boolean {
  return hasResult(error, 'full') || (error instanceof Error && 'code' in error && error.code === 'ENOSPC');
}

/** Pages of the file are not what SQLite wrote there. */
export function isDamaged(error: unknown): boolean {
  return hasResult(error, 'corrupt', 'notADatabase');
}
