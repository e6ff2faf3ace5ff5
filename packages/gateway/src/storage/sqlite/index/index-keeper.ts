import type { StoredRecord } from '@sallyport/log';
import { readEntry } from '../../../audit/search/entry.ts';
import type { Entry } from '../../../audit/search/entry.ts';
import type { SearchPage, SearchRequest } from '../../../audit/search/search-page.ts';
import { termsOf } from '../../../audit/search/entry-terms.ts';
import { matchesFilter } from '../../../audit/search/parse-filter.ts';
import { Database } from '../database.ts';
import type { Statement } from '../database.ts';
import { readRecord } from '../log-reader.ts';
import { IndexFile } from './index-file.ts';

const perPortion = 2000;
const longestSearchMs = 12;

/** The index and the log that it is made from. Used by one thread. */
export class IndexKeeper {
  readonly #log: Database;
  readonly #records: Statement;
  readonly #one: Statement;
  readonly #index: IndexFile;
  /** The portion that is being taken in: most calls end soon after they begin. */
  #recent = new Map<number, StoredRecord>();

  constructor(databaseFile: string, indexFile: string) {
    this.#log = Database.openForReading(databaseFile);
    this.#records = this.#log.prepare('SELECT * FROM records WHERE position >= ? ORDER BY position LIMIT ?');
    this.#one = this.#log.prepare('SELECT * FROM records WHERE position = ?');
    this.#index = IndexFile.open(indexFile, (index) => this.#find(index)?.leaf);
  }

  get indexedSize(): number {
    return this.#index.next;
  }

  /** Takes in the next portion of the log. False: there was nothing new. */
  catchUp(): boolean {
    const records = this.#records.all(this.#index.next, perPortion).map(readRecord);
    if (records.length === 0) return false;
    const before = this.#recent;
    this.#recent = new Map(records.map((record) => [record.index, record]));
    this.#index.add(records, (index) => this.#recent.get(index) ?? before.get(index) ?? this.#find(index));
    return true;
  }

  /** A page that takes too long ends early, and says where it goes on. */
  search({ filter, limit, before, after }: SearchRequest): SearchPage {
    const isForward = after !== undefined;
    const from = after ?? before ?? Number.MAX_SAFE_INTEGER;
    const endAtMs = performance.now() + longestSearchMs;
    const entries: Entry[] = [];
    const page = (next?: number): SearchPage => {
      return { entries, ...(next === undefined ? {} : { next }), indexedSize: this.indexedSize };
    };
    for (const { places, rest } of this.#index.find(filter, from, { isForward })) {
      for (const [at, place] of places.entries()) {
        const found = this.#read(place);
        if (found !== undefined && matchesFilter(filter, found.terms, found.timeMs)) entries.push(found.entry);
        const isLast = at === places.length - 1 && rest === undefined;
        if (!isLast && (entries.length >= limit || performance.now() > endAtMs)) return page(place);
      }
      if (rest !== undefined && performance.now() > endAtMs) return page(rest);
    }
    return page();
  }

  close(): void {
    this.#index.close();
    this.#log.close();
  }

  #read(place: number) {
    const record = this.#find(place);
    const entry = record && readEntry(record, (index) => this.#find(index));
    if (entry === undefined) return undefined;
    const { kind, timeMs } = entry.facts;
    return { entry: { kind, records: entry.records }, timeMs, terms: termsOf(entry.facts) };
  }

  #find(index: number): StoredRecord | undefined {
    return this.#one.all(index).map(readRecord)[0];
  }
}
