import type { Database, Statement } from '../database.ts';
import type { Range } from './postings.ts';

export const wordsSchema = `
  CREATE TABLE shards (first INTEGER PRIMARY KEY, last INTEGER NOT NULL, entries INTEGER NOT NULL);
`;

/** Of one shard. SQLite goes through the matches of a word one by one, so a page costs as much as a shard has. */
const shardEntries = 16_384;

function createShard(first: number): string {
  return `CREATE VIRTUAL TABLE words_${first} USING fts5(text, content = '', detail = none, columnsize = 0,
    tokenize = "unicode61 remove_diacritics 2")`;
}

export interface FoundPlaces {
  readonly places: readonly number[];
  /** From here on the search goes on in the next shard. Absent: there is none. */
  readonly rest?: number;
}

/** Which entries have which words, in parts of the log that are searched one after the other. */
export class Words {
  readonly #database: Database;
  readonly #statements: Record<'grow' | 'create' | 'list', Statement>;
  #open: { readonly first: number; readonly insert: Statement; entries: number } | undefined;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = {
      grow: database.prepare('UPDATE shards SET last = ?, entries = ? WHERE first = ?'),
      create: database.prepare('INSERT INTO shards VALUES (?, ?, 0)'),
      list: database.prepare('SELECT first, last, entries FROM shards ORDER BY first'),
    };
  }

  add(place: number, text: string): void {
    const shard = this.#shardFor(place);
    shard.insert.run(place, text);
    shard.entries += 1;
  }

  /** Before the transaction ends. */
  flush(last: number): void {
    if (this.#open !== undefined) this.#statements.grow.run(last, this.#open.entries, this.#open.first);
  }

  /** What this process knows may be out of date: it failed, or another one has gone on. */
  forget(): void {
    this.#open = undefined;
  }

  /** The parts of the log that have these places, by their first and last. */
  shardsWith(isForgotten: (from: number, to: number) => boolean): readonly (readonly [first: number, last: number])[] {
    const shards = this.#statements.list.all().map((row) => [Number(row['first']), Number(row['last'])] as const);
    return shards.filter(([first, last]) => isForgotten(first, last));
  }

  /** Makes one part anew, from these texts alone. Inside a transaction. */
  replace([first, last]: readonly [number, number], texts: Iterable<readonly [place: number, text: string]>): void {
    this.#database.execute(`DROP TABLE words_${first}`);
    this.#database.execute(createShard(first));
    const shard = this.#shardAt(first, 0);
    for (const [place, text] of texts) {
      shard.insert.run(place, text);
      shard.entries += 1;
    }
    this.#statements.grow.run(last, shard.entries, first);
    this.#open = undefined;
  }

  /** Places whose text has all of these words, shard by shard. */
  *find(words: readonly string[], { low, high, isForward }: Range, limit: number): Generator<FoundPlaces> {
    const expression = words
      .map((word) => (word.endsWith('*') ? `"${word.slice(0, -1)}"*` : `"${word}"`))
      .join(' AND ');
    const shards = this.#statements.list
      .all()
      .map((row) => ({ first: Number(row['first']), last: Number(row['last']) }))
      .filter((shard) => shard.first <= high && shard.last >= low);
    const ordered = isForward ? shards : shards.reverse();
    for (const [at, { first, last }] of ordered.entries()) {
      const find = this.#database.prepare(
        `SELECT rowid AS place FROM words_${first} WHERE words_${first} MATCH ? AND rowid BETWEEN ? AND ?
         ORDER BY rowid ${isForward ? 'ASC' : 'DESC'} LIMIT ?`,
      );
      let [from, to] = [Math.max(low, first), Math.min(high, last)];
      for (let isCut = true; isCut;) {
        const places = find.all(expression, from, to, limit).map(({ place }) => Number(place));
        isCut = places.length === limit;
        const edge = isCut ? (places.at(-1) as number) : isForward ? last : first;
        const isEnd = !isCut && at === ordered.length - 1;
        yield { places, ...(isEnd ? {} : { rest: edge }) };
        if (isForward) from = edge + 1;
        else to = edge - 1;
      }
    }
  }

  /** One that is full is put in order, because nothing comes to it any more. */
  #shardFor(place: number): { readonly insert: Statement; entries: number } {
    const open = this.#open ?? this.#lastShard();
    if (open !== undefined && open.entries < shardEntries) return (this.#open = open);
    if (open !== undefined) {
      this.#statements.grow.run(place - 1, open.entries, open.first);
      this.#database.execute(`INSERT INTO words_${open.first} (words_${open.first}) VALUES ('optimize')`);
    }
    this.#database.execute(createShard(place));
    this.#statements.create.run(place, place);
    return (this.#open = this.#shardAt(place, 0));
  }

  #lastShard() {
    const row = this.#statements.list.all().at(-1);
    return row && this.#shardAt(Number(row['first']), Number(row['entries']));
  }

  #shardAt(first: number, entries: number) {
    return { first, entries, insert: this.#database.prepare(`INSERT INTO words_${first} (rowid, text) VALUES (?, ?)`) };
  }
}
