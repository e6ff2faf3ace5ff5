import { hash } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import type { StoredRecord } from '@sallyport/log';
import { readEntry } from '../../../audit/search/entry.ts';
import { termsOf, textOf } from '../../../audit/search/entry-terms.ts';
import type { Filter } from '../../../audit/search/parse-filter.ts';
import { Database, isDamaged, isFaultOfStatement } from '../database.ts';
import type { Statement } from '../database.ts';
import { ActivityBook, activitySchema } from './activity-book.ts';
import type { PlaceSet } from './place-set.ts';
import { Postings, postingsSchema } from './postings.ts';
import type { PostingKey, Range } from './postings.ts';
import { Words, wordsSchema } from './words.ts';
import type { FoundPlaces } from './words.ts';

/** Another number makes everybody build the index anew. */
const format = '2';
/** Entries whose times are known together: a search by time passes over the others. */
const spanEntries = 256;
/** Looked at in one go. */
const perLook = 200;

const schema = `
  CREATE TABLE facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
  CREATE TABLE spans (first INTEGER PRIMARY KEY, last INTEGER NOT NULL, entries INTEGER NOT NULL,
    from_ms INTEGER NOT NULL, to_ms INTEGER NOT NULL);
  INSERT INTO facts VALUES ('format', '${format}'), ('next', 0), ('leaf', '');
  ${postingsSchema} ${wordsSchema} ${activitySchema}
`;

/** The log that the index is made from. */
export interface IndexedLog {
  readonly find: (index: number) => StoredRecord | undefined;
  /** In their order, both ends included. */
  readonly read: (from: number, to: number) => Iterable<StoredRecord>;
}

/**
 * What can be searched, in a file of its own: derived from the log, never believed, and built anew when it does not fit. An
 * entry is known by the place of its last record. Written by one at a time.
 */
export class IndexFile {
  readonly #database: Database;
  readonly #statements: Record<
    'next' | 'keep' | 'growSpan' | 'newSpan' | 'bounds' | 'removals' | 'keepRemovals',
    Statement
  >;
  readonly #postings: Postings;
  readonly #words: Words;
  readonly activity: ActivityBook;
  /** Where this process stopped. Another one may have gone on from there. */
  #ownNext: number | undefined;

  private constructor(database: Database) {
    this.#database = database;
    this.#postings = new Postings(database);
    this.#words = new Words(database);
    this.activity = new ActivityBook(database);
    this.#statements = {
      next: database.prepare(`SELECT value FROM facts WHERE name = 'next'`),
      removals: database.prepare(`SELECT value FROM facts WHERE name = 'removals'`),
      keepRemovals: database.prepare(`INSERT OR REPLACE INTO facts VALUES ('removals', ?)`),
      keep: database.prepare('UPDATE facts SET value = ? WHERE name = ?'),
      growSpan: database.prepare(
        `UPDATE spans SET last = ?, entries = entries + 1, from_ms = min(from_ms, ?), to_ms = max(to_ms, ?)
         WHERE first = (SELECT max(first) FROM spans) AND entries < ${spanEntries}`,
      ),
      newSpan: database.prepare('INSERT INTO spans VALUES (?, ?, 1, ?, ?)'),
      bounds: database.prepare(
        'SELECT min(first) AS first, max(last) AS last FROM spans WHERE to_ms >= ? AND from_ms < ?',
      ),
    };
  }

  /** `leafAt`: the leaf of a record in the log of now. An index of another log, or one that is damaged, is removed. */
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

  /** The first record that is not in it yet. */
  get next(): number {
    return Number(this.#statements.next.get()?.['value'] ?? 0);
  }

  /** Takes in records that follow each other, in one transaction. Those that are in it already are passed over. */
  add(records: readonly StoredRecord[], findRecord: (index: number) => StoredRecord | undefined): void {
    this.#database.execute('BEGIN IMMEDIATE');
    try {
      const next = this.next;
      if (next !== this.#ownNext) this.#words.forget();
      const fresh = records.filter(({ index }) => index >= next);
      for (const record of fresh) this.#addRecord(record, findRecord);
      const last = fresh.at(-1);
      if (last !== undefined) {
        this.#postings.flush();
        this.activity.flush();
        this.#words.flush(last.index);
        this.#statements.keep.run(last.index + 1, 'next');
        this.#statements.keep.run(markOf(last.leaf), 'leaf');
      }
      this.#database.execute('COMMIT');
      this.#ownNext = last === undefined ? next : last.index + 1;
    } catch (error) {
      this.#ownNext = undefined;
      this.#postings.rolledBack();
      this.activity.rolledBack();
      this.#database.execute('ROLLBACK');
      throw error;
    }
  }

  /** How many removals of the log it has followed. */
  get removals(): number {
    return Number(this.#statements.removals.get()?.['value'] ?? 0);
  }

  /** Nothing of what was removed so far is in it, because nothing at all is. */
  skipRemovals(removals: number): void {
    this.#statements.keepRemovals.run(removals);
  }

  /**
   * Makes anew what it knows of these entries, some of it at a time: what the log has erased is in it no more. `removals` is
   * what it has followed then.
   */
  *forget(places: PlaceSet, log: IndexedLog, removals: number): Generator<void> {
    for (const shard of this.#words.shardsWith((from, to) => places.meets(from, to))) {
      this.#transact(() => this.#words.replace(shard, textsOf(log, ...shard)));
      yield;
    }
    for (let after: PostingKey | undefined = [-1, -1]; after !== undefined;) {
      const from: PostingKey = after;
      after = this.#transact(() => this.#postings.forget((place) => places.has(place), from));
      yield;
    }
    for (const [from, to] of places.ranges) {
      this.#transact(() => this.#addTermsOf(log.read(from, Math.min(to, this.next - 1)), log.find));
      yield;
    }
    this.#transact(() => this.#statements.keepRemovals.run(removals));
    this.#database.emptyJournal();
  }

  /**
   * Places that may match, newest before `from` first, or with `isForward` oldest after it; a portion at a time. What is
   * found has to be compared with the filter again.
   */
  *find(filter: Filter, from: number, { isForward = false } = {}): Generator<FoundPlaces> {
    const [first, last] = this.#bounds(filter);
    const range = isForward
      ? { low: Math.max(first, from + 1), high: last, isForward }
      : { low: first, high: Math.min(last, from - 1), isForward };
    const found = filter.words.length > 0 ? this.#words.find(filter.words, range, perLook) : this.#look(filter, range);
    for (const { places, rest } of found) {
      const matching = places.filter((place) => this.#postings.matches(filter, place));
      yield { places: matching, ...(rest === undefined ? {} : { rest }) };
    }
  }

  close(): void {
    this.#database.close();
  }

  *#look(filter: Filter, range: Range): Generator<FoundPlaces> {
    for (let { low, high } = range; low <= high;) {
      const places = this.#postings.candidates(filter, { ...range, low, high }, perLook);
      const rest = places.length < perLook ? undefined : places.at(-1);
      yield { places, ...(rest === undefined ? {} : { rest }) };
      if (rest === undefined) return;
      if (range.isForward) low = rest + 1;
      else high = rest - 1;
    }
  }

  #fits(leafAt: (index: number) => Uint8Array | undefined): boolean {
    const rows = this.#database.prepare('SELECT name, value FROM facts').all();
    const facts = new Map(rows.map((row) => [row['name'], row['value']]));
    if (facts.get('format') !== format) return false;
    const next = Number(facts.get('next'));
    const leaf = next === 0 ? undefined : leafAt(next - 1);
    return next === 0 || (leaf !== undefined && facts.get('leaf') === markOf(leaf));
  }

  #addTermsOf(records: Iterable<StoredRecord>, findRecord: IndexedLog['find']): void {
    for (const record of records) {
      const entry = readEntry(record, findRecord);
      if (entry !== undefined) this.#postings.add(record.index, termsOf(entry.facts));
    }
    this.#postings.flush();
  }

  #transact<Value>(change: () => Value): Value {
    this.#database.execute('BEGIN IMMEDIATE');
    try {
      const value = change();
      this.#database.execute('COMMIT');
      return value;
    } catch (error) {
      this.#postings.rolledBack();
      this.#words.forget();
      this.#database.execute('ROLLBACK');
      throw error;
    }
  }

  #addRecord(record: StoredRecord, findRecord: (index: number) => StoredRecord | undefined): void {
    const entry = readEntry(record, findRecord);
    if (entry === undefined) return;
    const { index } = record;
    const { timeMs } = entry.facts;
    this.#postings.add(index, termsOf(entry.facts));
    this.#words.add(index, textOf(entry.facts));
    this.activity.add(entry.facts);
    const { growSpan, newSpan } = this.#statements;
    if (growSpan.run(index, timeMs, timeMs) === 0) newSpan.run(index, index, timeMs, timeMs);
  }

  /** Clocks are set back now and then, so each span has times of its own. */
  #bounds({ sinceMs, untilMs }: Filter): [first: number, last: number] {
    if (sinceMs === undefined && untilMs === undefined) return [0, Number.MAX_SAFE_INTEGER];
    const range = [Math.floor(sinceMs ?? 0), Math.floor(untilMs ?? Number.MAX_SAFE_INTEGER)] as const;
    const { first = null, last } = this.#statements.bounds.get(...range) ?? {};
    return first === null ? [1, 0] : [Number(first), Number(last)];
  }
}

function openDatabase(file: string): Database {
  const database = Database.openForIndex(file);
  const isNew = database.readNumber(`SELECT count(*) FROM sqlite_schema WHERE name = 'facts'`) === 0;
  if (isNew) database.execute(`BEGIN IMMEDIATE; ${schema} COMMIT;`);
  chmodSync(file, 0o600);
  return database;
}

function* textsOf(log: IndexedLog, from: number, to: number): Generator<readonly [number, string]> {
  for (const record of log.read(from, to)) {
    const entry = readEntry(record, log.find);
    if (entry !== undefined) yield [record.index, textOf(entry.facts)];
  }
}

function markOf(leaf: Uint8Array): string {
  return hash('sha256', leaf);
}
