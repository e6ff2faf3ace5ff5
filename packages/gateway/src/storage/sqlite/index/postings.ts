import { hash } from 'node:crypto';
import { anyTerm } from '../../../audit/search/entry-terms.ts';
import type { Term } from '../../../audit/search/entry-terms.ts';
import type { Filter } from '../../../audit/search/parse-filter.ts';
import type { Database, Statement } from '../database.ts';

export const postingsSchema = `
  CREATE TABLE postings (term INTEGER, place INTEGER, PRIMARY KEY (term, place)) WITHOUT ROWID;
  CREATE TABLE counts (term INTEGER PRIMARY KEY, entries INTEGER NOT NULL);
`;

/** How much of a hash stands for a term. Two terms may share it: what is found is compared with the filter again. */
const termDigits = 12;
const mostKnown = 50_000;
/** Nearly every entry has one of its own, so that counting would cost more than it tells. */
const uncounted = /^(?:call|trace)\0/;

export type PostingKey = readonly [term: number, place: number];

export interface Range {
  readonly low: number;
  readonly high: number;
  readonly isForward: boolean;
}

/** Which entries have which terms: a tree that finds the next place of a term at once, wherever it begins. */
export class Postings {
  readonly #database: Database;
  readonly #statements: Record<
    'insert' | 'count' | 'has' | 'entries' | 'list' | 'remove' | 'uncount' | 'dropEmpty',
    Statement
  >;
  readonly #numbers = new Map<Term, number>();
  #added = new Map<number, number>();

  constructor(database: Database) {
    this.#database = database;
    this.#statements = {
      insert: database.prepare('INSERT OR IGNORE INTO postings VALUES (?, ?)'),
      count: database.prepare(
        'INSERT INTO counts VALUES (?, ?) ON CONFLICT (term) DO UPDATE SET entries = entries + excluded.entries',
      ),
      has: database.prepare('SELECT 1 FROM postings WHERE term = ? AND place = ?'),
      entries: database.prepare('SELECT entries FROM counts WHERE term = ?'),
      list: database.prepare(
        'SELECT term, place FROM postings WHERE (term, place) > (?, ?) ORDER BY term, place LIMIT 10000',
      ),
      remove: database.prepare('DELETE FROM postings WHERE term = ? AND place = ?'),
      uncount: database.prepare('UPDATE counts SET entries = entries - ? WHERE term = ?'),
      dropEmpty: database.prepare('DELETE FROM counts WHERE term = ? AND entries <= 0'),
    };
  }

  add(place: number, terms: Iterable<Term>): void {
    for (const term of terms) {
      const number = this.#numberOf(term);
      this.#statements.insert.run(number, place);
      if (!uncounted.test(term)) this.#added.set(number, (this.#added.get(number) ?? 0) + 1);
    }
  }

  /** Before the transaction ends. */
  flush(): void {
    for (const [number, entries] of this.#added) this.#statements.count.run(number, entries);
    this.#added = new Map();
  }

  rolledBack(): void {
    this.#added = new Map();
  }

  /**
   * Takes away what these places have, some of it at a time: from where to go on, until there is no more. Inside a
   * transaction.
   */
  forget(isForgotten: (place: number) => boolean, after: PostingKey): PostingKey | undefined {
    const rows = this.#statements.list.all(...after).map(({ term, place }) => [Number(term), Number(place)] as const);
    const gone = new Map<number, number>();
    for (const [term, place] of rows) {
      if (!isForgotten(place)) continue;
      this.#statements.remove.run(term, place);
      gone.set(term, (gone.get(term) ?? 0) + 1);
    }
    for (const [term, entries] of gone) {
      this.#statements.uncount.run(entries, term);
      this.#statements.dropEmpty.run(term);
    }
    return rows.at(-1);
  }

  /** The next places that have what the filter asks for and hardly any entry has. The rest is for `matches` to say. */
  candidates(filter: Filter, { low, high, isForward }: Range, limit: number): number[] {
    const rarest = this.#rarestOf(filter);
    const order = `ORDER BY place ${isForward ? 'ASC' : 'DESC'} LIMIT ${limit}`;
    const each = `SELECT place FROM (SELECT place FROM postings WHERE term = ? AND place BETWEEN ? AND ? ${order})`;
    const rows = this.#database
      .prepare(`${rarest.map(() => each).join(' UNION ')} ${order}`)
      .all(...rarest.flatMap((term) => [this.#numberOf(term), low, high]));
    return rows.map(({ place }) => Number(place));
  }

  matches({ terms, anyOf, without }: Filter, place: number): boolean {
    const has = (term: Term): boolean => this.#statements.has.get(this.#numberOf(term), place) !== undefined;
    return terms.every(has) && anyOf.every((list) => list.some(has)) && !without.some(has);
  }

  #rarestOf({ terms, anyOf }: Filter): readonly Term[] {
    const lists = [...terms.map((term) => [term]), ...anyOf];
    const weighed = lists.map((list) => ({ list, entries: list.reduce((sum, term) => sum + this.#countOf(term), 0) }));
    return weighed.toSorted((a, b) => a.entries - b.entries)[0]?.list ?? [anyTerm];
  }

  #countOf(term: Term): number {
    return uncounted.test(term) ? 1 : Number(this.#statements.entries.get(this.#numberOf(term))?.['entries'] ?? 0);
  }

  #numberOf(term: Term): number {
    const known = this.#numbers.get(term);
    if (known !== undefined) return known;
    if (this.#numbers.size >= mostKnown) this.#numbers.clear();
    const number = Number.parseInt(hash('sha256', term).slice(0, termDigits), 16);
    this.#numbers.set(term, number);
    return number;
  }
}
