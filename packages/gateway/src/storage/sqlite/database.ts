import { DatabaseSync } from 'node:sqlite';
import type { SQLInputValue, StatementSync } from 'node:sqlite';

export type Row = Record<string, null | number | bigint | string | Uint8Array>;

/** The one place that touches node:sqlite, whose interface may still move. */
export class Database {
  readonly #connection: DatabaseSync;

  private constructor(connection: DatabaseSync) {
    this.#connection = connection;
  }

  /** For the writer: WAL, and a commit returns only when the disk has it. */
  static openForWriting(path: string): Database {
    const connection = new DatabaseSync(path, { timeout: 5000 });
    connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;');
    // The checkpoint of SQLite's own journal costs a burst of writes; every 4 MB keeps it rare and the file small.
    connection.exec('PRAGMA wal_autocheckpoint = 1000; PRAGMA journal_size_limit = 16777216;');
    return new Database(connection);
  }

  static openForReading(path: string): Database {
    const connection = new DatabaseSync(path, { readOnly: true, timeout: 5000 });
    connection.exec('PRAGMA query_only = ON;');
    return new Database(connection);
  }

  prepare(sql: string): Statement {
    return new Statement(this.#connection.prepare(sql));
  }

  execute(sql: string): void {
    this.#connection.exec(sql);
  }

  readNumber(sql: string): number {
    const row = this.#connection.prepare(sql).get();
    return Number(Object.values(row ?? { value: 0 })[0] ?? 0);
  }

  close(): void {
    this.#connection.close();
  }
}

export class Statement {
  readonly #statement: StatementSync;

  constructor(statement: StatementSync) {
    this.#statement = statement;
  }

  get(...parameters: SQLInputValue[]): Row | undefined {
    return this.#statement.get(...parameters);
  }

  all(...parameters: SQLInputValue[]): Row[] {
    return this.#statement.all(...parameters);
  }

  iterate(...parameters: SQLInputValue[]): Iterable<Row> {
    return this.#statement.iterate(...parameters);
  }

  /** Returns how many rows changed. */
  run(...parameters: SQLInputValue[]): number {
    return Number(this.#statement.run(...parameters).changes);
  }
}

const constraintViolation = 19;

/** Whether the error concerns this one statement, not the ability to write at all. */
export function isConstraintViolation(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === constraintViolation;
}

export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === 13;
}
