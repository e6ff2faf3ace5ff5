import { parseRemoval } from '@sallyport/log';
import type { StoredRecord } from '@sallyport/log';
import { readEntry } from '../../../audit/search/entry.ts';
import type { ActivityKind, ActivityReport, ActivityRequest, ActivityTotal } from '../../../audit/search/activity.ts';
import type { Entry } from '../../../audit/search/entry.ts';
import type { SearchPage, SearchRequest } from '../../../audit/search/search-page.ts';
import { matchesFilter } from '../../../audit/search/parse-filter.ts';
import { Database } from '../database.ts';
import type { Row, Statement } from '../database.ts';
import { archiveFiller, readRecord } from '../log/log-reader.ts';
import { IndexFile } from './index-file.ts';
import { PlaceSet } from './place-set.ts';

const perPortion = 2000;
/** CPU time and wall time: on a busy machine a page comes later rather than short. */
const longest = { ranMs: 12, wallMs: 250 };

export interface IndexFiles {
  readonly databaseFile: string;
  readonly indexFile: string;
  /** Absent: there is no archive. */
  readonly archiveFolder?: string;
}

/** The index and the log that it is made from. Used by one thread. */
export class IndexKeeper {
  readonly #log: Database;
  readonly #records: Statement;
  readonly #one: Statement;
  readonly #range: Statement;
  readonly #fill: (record: StoredRecord) => StoredRecord;
  readonly #index: IndexFile;
  /** The portion that is being indexed: most calls end soon after they begin. */
  #recent = new Map<number, StoredRecord>();

  #forgetting: Generator<void> | undefined;

  constructor({ databaseFile, indexFile, archiveFolder }: IndexFiles) {
    this.#log = Database.openForReading(databaseFile);
    this.#records = this.#log.prepare('SELECT * FROM records WHERE position >= ? ORDER BY position LIMIT ?');
    this.#one = this.#log.prepare('SELECT * FROM records WHERE position = ?');
    this.#range = this.#log.prepare('SELECT * FROM records WHERE position BETWEEN ? AND ? ORDER BY position');
    this.#fill = archiveFiller(archiveFolder);
    this.#index = IndexFile.open(indexFile, (index) => this.#find(index)?.leaf);
    if (this.#index.next > 0) return;
    const [last] = this.#ask(`SELECT max(position) + 1 AS next FROM removals`);
    if ((last?.['next'] ?? null) !== null) this.#index.skipRemovals(Number(last?.['next']));
  }

  get indexedSize(): number {
    return this.#index.next;
  }

  logSize(): number {
    return this.#log.readNumber('SELECT coalesce(max(position) + 1, 0) FROM records');
  }

  /** Adds the next portion of the log; the last one makes all of it findable. False: there was nothing new. */
  catchUp(): boolean {
    const records = this.#records.all(this.#index.nextToGather, perPortion).map(readRecord).map(this.#fill);
    const before = this.#recent;
    this.#recent = new Map(records.map((record) => [record.index, record]));
    this.#index.gather(records, (index) => this.#recent.get(index) ?? before.get(index) ?? this.#find(index));
    if (records.length < perPortion) this.#index.write();
    return records.length > 0;
  }

  /**
   * Forgets some of what the log has erased. False: nothing is left to be forgotten. While an erasure goes on it waits
   * for the end, unless the erasure waits for it.
   */
  forgetErased({ isUrgent }: { readonly isUrgent: boolean }): boolean {
    if (this.#forgetting === undefined) {
      if (!isUrgent && this.#ask(`SELECT 1 FROM erasures WHERE status = 'running'`).length > 0) return false;
      const told = this.#ask(
        `SELECT records.* FROM removals JOIN records USING (position)
         WHERE removals.kind = 'erased' AND position >= ${this.#index.removals} ORDER BY position`,
      ).map(readRecord);
      const last = told.at(-1);
      if (last === undefined) return false;
      const ranges = told.flatMap(({ payload = '', index }) => parseRemoval(payload, index)?.ranges ?? []);
      const log = {
        find: (index: number) => this.#find(index),
        read: (from: number, to: number) => this.#read(from, to),
      };
      this.#forgetting = this.#index.forget(new PlaceSet(ranges), log, last.index + 1);
      this.#recent = new Map();
    }
    if (this.#forgetting.next().done === true) this.#forgetting = undefined;
    return true;
  }

  /** A page that takes too long ends early, and says where the next one begins. */
  search(request: SearchRequest): SearchPage {
    this.#log.execute('BEGIN');
    try {
      return this.#search(request);
    } finally {
      this.#log.execute('COMMIT');
    }
  }

  #search({ filter, limit, before, after }: SearchRequest): SearchPage {
    const isForward = after !== undefined;
    const from = after ?? before ?? Number.MAX_SAFE_INTEGER;
    const isLong = stopwatch();
    const entries: Entry[] = [];
    const page = (next?: number): SearchPage => {
      return { entries, ...(next === undefined ? {} : { next }), indexedSize: this.indexedSize };
    };
    for (const { places, rest } of this.#index.find(filter, from, { isForward })) {
      for (const [at, place] of places.entries()) {
        const found = this.#readEntry(place);
        if (found !== undefined && matchesFilter(filter, found.facts)) entries.push(found.entry);
        const isLast = at === places.length - 1 && rest === undefined;
        if (!isLast && (entries.length >= limit || isLong())) return page(place);
      }
      if (rest !== undefined && isLong()) return page(rest);
    }
    return page();
  }

  readActivity(request: ActivityRequest): ActivityReport {
    return { ...this.#index.activity.read(request), indexedSize: this.indexedSize };
  }

  readTotals(kinds: readonly ActivityKind[]): readonly ActivityTotal[] {
    return kinds.flatMap((kind) => this.#index.activity.totals(kind));
  }

  close(): void {
    this.#index.close();
    this.#log.close();
  }

  /** A log that an earlier version wrote has erased nothing, and has no such tables. */
  #ask(sql: string): Row[] {
    const hasTable = `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'removals'`;
    return this.#log.readNumber(hasTable) === 0 ? [] : this.#log.prepare(sql).all();
  }

  *#read(from: number, to: number): Generator<StoredRecord> {
    for (const row of this.#range.iterate(from, to)) yield this.#fill(readRecord(row));
  }

  #readEntry(place: number) {
    const record = this.#find(place);
    const entry = record && readEntry(record, (index) => this.#find(index));
    if (entry === undefined) return undefined;
    return { entry: { kind: entry.facts.kind, records: entry.records }, facts: entry.facts };
  }

  #find(index: number): StoredRecord | undefined {
    return this.#one.all(index).map(readRecord).map(this.#fill)[0];
  }
}

/** Says whether the time of a search is over. */
function stopwatch(): () => boolean {
  const [startMs, before] = [performance.now(), process.threadCpuUsage()];
  return () => {
    const wallMs = performance.now() - startMs;
    if (wallMs <= longest.ranMs) return false;
    const { user, system } = process.threadCpuUsage(before);
    return wallMs > longest.wallMs || (user + system) / 1000 > longest.ranMs;
  };
}
