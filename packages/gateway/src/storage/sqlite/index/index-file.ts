import { hash } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import type { StoredRecord } from '@sallyport/log';
import { readEntry } from '../../../audit/search/entry.ts';
import { termOf, termsOf } from '../../../audit/search/entry-terms.ts';
import type { Filter } from '../../../audit/search/parse-filter.ts';
import { Database, isDamaged, isFaultOfStatement } from '../database.ts';
import type { Statement } from '../database.ts';
import { ActivityBook, activitySchema } from './activity-book.ts';
import type { PlaceSet } from './place-set.ts';
import { RunBuilder } from './run-builder.ts';
import { questionOf, Runs, runsSchema } from './runs.ts';
import type { Run } from './runs.ts';

/** A new number makes every gate rebuild its index. */
const format = '4';
/** How many places are read at once. */
const perLook = 200;

const schema = `
  CREATE TABLE facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
  INSERT INTO facts VALUES ('format', '${format}'), ('next', 0), ('leaf', ''), ('removals', 0);
  ${runsSchema} ${activitySchema}
`;

/** The log that the index is made from. */
export interface IndexedLog {
  readonly find: (index: number) => StoredRecord | undefined;
  /** In their order, both ends included. */
  readonly read: (from: number, to: number) => Iterable<StoredRecord>;
}

export interface FoundPlaces {
  readonly places: readonly number[];
  /** Where the search continues. Absent: there is no more. */
  readonly rest?: number;
}

/**
 * The search index, in its own file: derived from the log, never trusted, and rebuilt when it does not match. An entry
 * is known by the place of its last record. Records are gathered in memory and written together, as a run: a kill loses
 * what was gathered, and the next start begins where the file ends. One process writes at a time.
 */
export class IndexFile {
  readonly #database: Database;
  readonly #sql: Record<'fact' | 'keep', Statement>;
  readonly #runs: Runs;
  readonly activity: ActivityBook;
  /** What was gathered, and the record that it ends with. */
  #gathered: { readonly run: RunBuilder; leaf: Uint8Array } | undefined;
  #dataVersion = 0;

  private constructor(database: Database) {
    this.#database = database;
    this.#runs = new Runs(database);
    this.activity = new ActivityBook(database);
    this.#sql = {
      fact: database.prepare('SELECT value FROM facts WHERE name = ?'),
      keep: database.prepare('UPDATE facts SET value = ? WHERE name = ?'),
    };
  }

  /** `leafAt`: the leaf of a record in the current log. An index of another log, or a damaged one, is removed. */
  static open(file: string, leafAt: (index: number) => Uint8Array | undefined): IndexFile {
    try {
      const opened = new IndexFile(openDatabase(file));
      if (opened.#fits(leafAt)) return opened;
      opened.close();
    } catch (error) {
      if (!isDamaged(error) && !isFaultOfStatement(error)) throw error;
    }
    for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
    return new IndexFile(openDatabase(file));
  }

  /** The first record that cannot be found yet. */
  get next(): number {
    return Number(this.#sql.fact.get('next')?.['value'] ?? 0);
  }

  /** The first record that was not gathered yet. */
  get nextToGather(): number {
    return this.#gathered?.run.next ?? this.next;
  }

  /** Adds records that follow each other. They are found when they are written. */
  gather(records: Iterable<StoredRecord>, findRecord: IndexedLog['find']): void {
    for (const record of records) {
      if (this.#gathered?.run.takes(record.index) === false) this.write();
      this.#gathered ??= { run: new RunBuilder(record.index), leaf: record.leaf };
      const { run } = this.#gathered;
      const entry = readEntry(record, findRecord);
      if (entry !== undefined) {
        run.add(record.index, entry.facts);
        this.activity.add(entry.facts);
      }
      run.next = record.index + 1;
      this.#gathered.leaf = record.leaf;
    }
  }

  /** Writes what was gathered, in one transaction. Drops what another process has indexed meanwhile. */
  write(): void {
    const gathered = this.#gathered;
    this.#gathered = undefined;
    if (gathered === undefined) return;
    this.#transact(() => {
      const { run, leaf } = gathered;
      if (this.next !== run.first) {
        this.activity.drop();
        return;
      }
      this.#runs.add(run);
      this.activity.flush();
      this.#sql.keep.run(run.next, 'next');
      this.#sql.keep.run(markOf(leaf), 'leaf');
    });
  }

  /** How many removals of the log it has followed. */
  get removals(): number {
    return Number(this.#sql.fact.get('removals')?.['value'] ?? 0);
  }

  /** The index is empty, so it has nothing of what was removed so far. */
  skipRemovals(removals: number): void {
    this.#sql.keep.run(removals, 'removals');
  }

  /**
   * Rebuilds what it knows about these entries, in portions, so that it has nothing that the log has erased. `removals`
   * is how many removals it has followed afterwards.
   */
  *forget(places: PlaceSet, log: IndexedLog, removals: number): Generator<void> {
    this.write();
    for (const run of this.#runs.meeting((from, to) => places.meets(from, to))) {
      this.#transact(() => this.#runs.replace(run, (place) => places.has(place), knownOf(run, places, log)));
      yield;
    }
    for (const { kind, name, field } of this.activity.namesOfCallers()) {
      if (!this.#runs.has(termOf(field, name))) this.#transact(() => this.activity.forgetName(kind, name));
      yield;
    }
    this.#transact(() => {
      this.activity.rewrite();
      this.#sql.keep.run(removals, 'removals');
    });
    this.#database.emptyJournal();
  }

  /**
   * Places that may match, newest before `from` first, or with `isForward` oldest after it; a portion at a time. What
   * is found has to be compared with the filter again.
   */
  *find(filter: Filter, from: number, { isForward = false } = {}): Generator<FoundPlaces> {
    // One transaction: taking and giving up the locks of SQLite costs more than a look into a run.
    this.#database.execute('BEGIN');
    try {
      this.#noticeOthers();
      yield* this.#find(filter, from, isForward);
    } finally {
      this.#database.execute('COMMIT');
    }
  }

  close(): void {
    this.#database.close();
  }

  *#find(filter: Filter, from: number, isForward: boolean): Generator<FoundPlaces> {
    const question = questionOf(filter);
    const [low, high] = isForward ? [from + 1, Number.MAX_SAFE_INTEGER] : [0, from - 1];
    for (const run of this.#runs.between(low, high, { isForward })) {
      const bits = this.#runs.search(run, question);
      const places = bits === undefined ? [] : listPlaces(bits, run.first, [low, high]);
      if (!isForward) places.reverse();
      for (let at = 0; at + perLook < places.length; at += perLook) {
        yield { places: places.slice(at, at + perLook), rest: places[at + perLook - 1] as number };
      }
      yield { places: places.slice(lastPortion(places.length)), rest: isForward ? run.last : run.first };
    }
    yield { places: [] };
  }

  /** Cached chunks may be outdated, if another process has written. */
  #noticeOthers(): void {
    // The first look begins the transaction, which from then on sees one state of the file.
    this.#sql.fact.get('next');
    const version = this.#database.readNumber('PRAGMA data_version');
    if (version !== this.#dataVersion) this.#runs.forget();
    this.#dataVersion = version;
  }

  #fits(leafAt: (index: number) => Uint8Array | undefined): boolean {
    if (this.#sql.fact.get('format')?.['value'] !== format) return false;
    const { next } = this;
    const leaf = next === 0 ? undefined : leafAt(next - 1);
    return next === 0 || (leaf !== undefined && this.#sql.fact.get('leaf')?.['value'] === markOf(leaf));
  }

  #transact(change: () => void): void {
    this.#database.execute('BEGIN IMMEDIATE');
    try {
      change();
      this.#database.execute('COMMIT');
    } catch (error) {
      this.activity.drop();
      this.#runs.forget();
      this.#database.rollBack();
      throw error;
    }
  }
}

/** What remains to be indexed of the erased places of a run. */
function knownOf(run: Run, places: PlaceSet, log: IndexedLog): RunBuilder {
  const known = new RunBuilder(run.first);
  for (const [from, to] of places.ranges) {
    for (const record of log.read(Math.max(from, run.first), Math.min(to, run.last))) {
      const entry = readEntry(record, log.find);
      if (entry !== undefined) known.addTerms(record.index, termsOf(entry.facts));
    }
  }
  return known;
}

function lastPortion(count: number): number {
  return count === 0 ? 0 : Math.floor((count - 1) / perLook) * perLook;
}

function listPlaces(bits: Uint32Array, first: number, [low, high]: readonly [number, number]): number[] {
  const places: number[] = [];
  for (const [at, word] of bits.entries()) {
    for (let left = word; left !== 0; left &= left - 1) {
      const place = first + 32 * at + 31 - Math.clz32(left & -left);
      if (place >= low && place <= high) places.push(place);
    }
  }
  return places;
}

function openDatabase(file: string): Database {
  const database = Database.openForIndex(file);
  const isNew = database.readNumber(`SELECT count(*) FROM sqlite_schema WHERE name = 'facts'`) === 0;
  if (isNew) database.execute(`BEGIN IMMEDIATE; ${schema} COMMIT;`);
  chmodSync(file, 0o600);
  return database;
}

function markOf(leaf: Uint8Array): string {
  return hash('sha256', leaf);
}
