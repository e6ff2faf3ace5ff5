import { statSync } from 'node:fs';
import { Database, fullDisk, isConstraintViolation, isDamaged, isDiskFull } from './database.ts';
import { overwriteUnused } from './erasure/overwrite-unused.ts';
import type { LogAppender } from './log/log-appender.ts';
import type { OpenIntents } from './log/open-intents.ts';
import { Tallies } from './counts/tallies.ts';
import type { Operation, Written } from './operation.ts';
import { OperationWriter } from './operation-writer.ts';
import { giveUpSpace, setSpaceAside } from './spare-space.ts';
import { openState } from './state/open-state.ts';
import type { StateGuard } from './state/state-guard.ts';
import { touchedBy } from './state/state-versions.ts';
import type { StateVersions } from './state/state-versions.ts';

export interface WriterOptions {
  readonly databaseFile: string;
  readonly signingKey: string;
  readonly origin: string;
  readonly checkpointFile: string;
  /** Space that is freed when the disk is full, so that running calls can still record their outcome. */
  readonly reserveFile: string;
  readonly reserveBytes: number;
  /** Where old payloads are. Absent: there is no archive. */
  readonly archiveFolder?: string;
  /** The key that authenticates the state beside the log: 32 bytes in base64. */
  readonly stateKey: string;
  /** The key is new, so the state is accepted as it is found. */
  readonly adoptState: boolean;
  /** After a seal. Absent: at the start. */
  readonly isReopened?: true;
}

export interface Sealed {
  readonly reason: string;
  /** Log or state are not what the gate wrote: it opens again only when all of both was verified. */
  readonly isChanged: boolean;
}

/** Takes some seconds; no call is recorded meanwhile. */
const mostRewrittenBytes = 64 * 1024 * 1024;

/** Owns the writing connection. Used by one thread only; each group of operations is one commit. */
export class Writer {
  readonly #options: WriterOptions;
  readonly #database: Database;
  readonly #log: LogAppender;
  readonly #guard: StateGuard;
  readonly #intents: OpenIntents;
  readonly #tallies: Tallies;
  readonly #dataVersion: number;
  readonly #operations: OperationWriter;
  readonly #sql: ReturnType<typeof prepare>;
  readonly #versions: StateVersions;
  #sealed: Sealed | undefined;
  constructor(options: WriterOptions, versions: StateVersions) {
    this.#options = options;
    this.#versions = versions;
    this.#database = Database.openForWriting(options.databaseFile);
    try {
      const { log, guard, intents, tallies } = openState(this.#database, options);
      this.#log = log;
      this.#guard = guard;
      this.#intents = intents;
      this.#tallies = new Tallies(this.#database);
      this.#tallies.adopt(tallies);
      const state = { database: this.#database, log, intents, tallies: this.#tallies, versions };
      this.#operations = new OperationWriter(state);
      this.#sql = prepare(this.#database);
      this.#dataVersion = this.#readDataVersion();
      setSpaceAside(options);
      // Records that an earlier run committed but did not sign are signed before anything new. After a seal, something
      // is written in any case, to show that writing works.
      if (this.#log.hasUnsigned || this.#tallies.isBehind || options.isReopened) this.#signAndCatchUp();
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  get sealed(): Sealed | undefined {
    return this.#sealed;
  }

  get hasUnsigned(): boolean {
    return this.#log.hasUnsigned && this.#sealed === undefined;
  }

  /** Runs the operations in one commit and answers each. Never throws. */
  writeGroup(operations: readonly Operation[]): Written[] {
    if (this.#sealed !== undefined) return operations.map((operation) => this.#writeWhileSealed(operation));
    try {
      return this.#commit(operations);
    } catch (error) {
      // One bad operation must not fail the others: run them by halves to find it.
      if (operations.length > 1) {
        const half = Math.ceil(operations.length / 2);
        return [...this.writeGroup(operations.slice(0, half)), ...this.writeGroup(operations.slice(half))];
      }
      if (!isStorageFailure(error)) return [{ ok: false, error: messageOf(error), sealed: false }];
      this.#sealBecauseOf(error);
      return operations.map((operation) => this.#writeWhileSealed(operation));
    }
  }

  /** Whether counts and spending in the tables are older than the log. */
  get isBehind(): boolean {
    return this.#tallies.isBehind;
  }

  /** Seals the gate if something else wrote to the database, which a commit would find as well. */
  lookForChanges(): void {
    if (this.#sealed !== undefined) return;
    try {
      if (this.#readDataVersion() !== this.#dataVersion) throw new ChangedByOthers();
    } catch (error) {
      this.#sealBecauseOf(error);
    }
  }

  /** Signs what is committed, and brings the tables up to date in the same commit. */
  sign(): void {
    try {
      this.#signAndCatchUp();
    } catch (error) {
      this.#sealBecauseOf(error);
    }
  }

  /** Nothing new is written from now on. Frees the space set aside, for the outcomes of running calls. */
  seal(sealed: Sealed): void {
    // A change of log or state is more important than an earlier reason.
    if (this.#sealed !== undefined && (this.#sealed.isChanged || !sealed.isChanged)) return;
    this.#sealed = sealed;
    giveUpSpace(this.#options);
  }

  close(): void {
    if (this.#sealed === undefined) {
      try {
        this.#transact(() => {
          this.#operations.forgetExpired(Date.now());
          this.#tallies.flush();
        });
      } catch {
        // Expired entries are removed at the next stop.
      }
      this.sign();
      if (this.#sql.isRewriteDue.get() !== undefined) this.#overwriteUnused();
    }
    this.#database.close();
  }

  /**
   * Overwrites what was deleted in the files. A large database is overwritten when it is closed, because no call could
   * be recorded meanwhile. False: not done yet.
   */
  compact({ isRoutine }: { readonly isRoutine: boolean }): boolean {
    if (this.#sealed !== undefined) return false;
    try {
      // Written down, because a kill may come before it is done.
      this.#transact(() => this.#sql.noteRewriteDue.run());
      const most = isRoutine ? mostRewrittenBytes / 8 : mostRewrittenBytes;
      if (statSync(this.#options.databaseFile).size <= most) return this.#rewrite();
      this.#database.emptyJournal();
    } catch (error) {
      this.#sealBecauseOf(error);
    }
    return false;
  }

  /** False: there was no room for a second copy, or somebody still reads the old one. */
  #rewrite(): boolean {
    try {
      this.#database.rewrite();
      if (!this.#database.emptyJournal()) return false;
      this.#transact(() => this.#sql.noteRewritten.run());
      return true;
    } catch {
      return false;
    }
  }

  /** When the daemon stops, because nobody else may write. What fails now is done at the next stop. */
  #overwriteUnused(): void {
    try {
      if (!this.#database.emptyJournal()) return;
      overwriteUnused(this.#options.databaseFile);
      // Pages in memory are as they were.
      this.#database.forgetPages();
      this.#transact(() => this.#sql.noteRewritten.run());
    } catch {
      // It stays due.
    }
  }

  #signAndCatchUp(): void {
    const publish = this.#transact(() => {
      this.#tallies.flush();
      return this.#log.sign();
    });
    publish?.();
  }

  #commit(operations: readonly Operation[]): Written[] {
    return this.#transact(() => operations.map((operation) => this.#answer(operation)));
  }

  #answer(operation: Operation): Written {
    const value = this.#operations.apply(operation);
    const what = touchedBy(operation, value);
    if (what.length === 0) return { ok: true, value };
    return { ok: true, value, touched: { version: this.#versions.note(what), what } };
  }

  #transact<Value>(change: () => Value): Value {
    try {
      this.#sql.begin.write();
      if (this.#readDataVersion() !== this.#dataVersion) throw new ChangedByOthers();
      this.#tallies.recall();
      const value = change();
      const tallies = this.#tallies.encode();
      const position = this.#log.size;
      this.#guard.save({ position, openFrom: this.#intents.firstPosition(position), tallies });
      this.#sql.commit.write();
      this.#log.committed();
      this.#guard.committed();
      this.#intents.committed();
      this.#tallies.committed();
      return value;
    } catch (error) {
      this.#log.rolledBack();
      this.#guard.rolledBack();
      this.#intents.rolledBack();
      this.#tallies.rolledBack();
      try {
        this.#sql.rollback.run();
      } catch {
        // SQLite has rolled back by itself already, as it does when the disk is full.
      }
      throw error;
    }
  }

  /** Changes when another connection has written. None should, and nobody has checked what it wrote. */
  #readDataVersion(): number {
    return Number(this.#sql.dataVersion.get()?.['data_version']);
  }

  /** Nothing new is admitted, but a call that already ran can still record its outcome, in the reserved space. */
  #writeWhileSealed(operation: Operation): Written {
    const refused: Written = { ok: false, error: this.#sealed?.reason ?? 'sealed', sealed: true };
    if (operation.name !== 'settle') return refused;
    try {
      return this.#commit([operation])[0] ?? refused;
    } catch {
      return refused;
    }
  }

  #sealBecauseOf(error: unknown): void {
    const isChanged = error instanceof ChangedByOthers || isDamaged(error);
    const damaged = isDamaged(error) ? `${this.#options.databaseFile} is damaged: ` : '';
    this.seal({ reason: isDiskFull(error) ? fullDisk : `${damaged}${messageOf(error)}`, isChanged });
  }
}

function prepare(database: Database) {
  return {
    begin: database.prepare('BEGIN IMMEDIATE'),
    commit: database.prepare('COMMIT'),
    rollback: database.prepare('ROLLBACK'),
    dataVersion: database.prepare('PRAGMA data_version'),
    isRewriteDue: database.prepare(`SELECT 1 FROM settings WHERE name = 'rewrite_due'`),
    noteRewriteDue: database.prepare(`INSERT OR IGNORE INTO settings (name, value) VALUES ('rewrite_due', '1')`),
    noteRewritten: database.prepare(`DELETE FROM settings WHERE name = 'rewrite_due'`),
  };
}

/** Somebody else wrote to the database while the gate was running. */
class ChangedByOthers extends Error {
  constructor() {
    super('the database was changed by something other than Sallyport');
  }
}

function isStorageFailure(error: unknown): boolean {
  if (error instanceof ChangedByOthers) return true;
  return error instanceof Error && 'errcode' in error && !isConstraintViolation(error);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
