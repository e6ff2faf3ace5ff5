import type { Filter } from '../../../audit/search/parse-filter.ts';
import { anyTerm } from '../../../audit/search/entry-terms.ts';
import type { Term } from '../../../audit/search/entry-terms.ts';
import type { Database, Row, Statement } from '../database.ts';
import { Chunk, ChunkWriter, mostPlaces } from './chunk.ts';
import type { Key } from './chunk.ts';
import { joinPostings } from './join-postings.ts';
import { keyOfTerm, keyOfWord } from './run-builder.ts';
import type { Postings, RunBuilder } from './run-builder.ts';
import { TimeSpans } from './time-spans.ts';

/**
 * A run is a part of the log: its chunks follow one another from `chunk` on, and the last `roots` of them list the
 * first keys of the others.
 */
export const runsSchema = `
  CREATE TABLE runs (first INTEGER PRIMARY KEY, last INTEGER NOT NULL, pairs INTEGER NOT NULL, chunk INTEGER NOT NULL,
    chunks INTEGER NOT NULL, roots INTEGER NOT NULL, from_ms REAL NOT NULL, to_ms REAL NOT NULL, times BLOB NOT NULL);
  CREATE TABLE chunks (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
`;

/** Short runs are joined and rewritten until they have this many pairs. */
const mostJoinedPairs = 600_000;
/**
 * A run absorbs those before it that are not this much longer. So there are few, and each is written a few times only.
 */
const ratio = 4;
const mostKnownRoots = 2000;

export interface Run {
  readonly first: number;
  readonly last: number;
  readonly pairs: number;
  readonly chunk: number;
  readonly chunks: number;
  readonly roots: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** A filter in the form that runs understand. */
export interface Question {
  /** One of each group must match. */
  readonly groups: readonly (readonly Buffer[])[];
  readonly words: readonly { readonly key: Buffer; readonly isBeginning: boolean }[];
  readonly without: readonly Buffer[];
  readonly sinceMs: number;
  readonly untilMs: number;
}

export function questionOf({ terms, anyOf, words, without, sinceMs, untilMs }: Filter): Question {
  const keysOf = (list: readonly Term[]): Buffer[] => list.map((term) => bytesOf(keyOfTerm(term)));
  return {
    groups: [...terms.map((term) => [term]), ...anyOf].map(keysOf),
    words: words.map((word) => {
      const isBeginning = word.endsWith('*');
      return { key: bytesOf(keyOfWord(isBeginning ? word.slice(0, -1) : word)), isBeginning };
    }),
    without: keysOf(without),
    sinceMs: sinceMs ?? -Infinity,
    untilMs: untilMs ?? Infinity,
  };
}

const everyEntry = [bytesOf(keyOfTerm(anyTerm))];

/** Which entries have which terms and words, in runs that are searched one after the other. */
export class Runs {
  readonly #sql: ReturnType<typeof prepare>;
  /** The first keys of a run's chunks, by where its chunks begin. */
  readonly #roots = new Map<number, Chunk[]>();
  /** Newest first. Undefined: they have to be read again. */
  #known: readonly Run[] | undefined;

  constructor(database: Database) {
    this.#sql = prepare(database);
  }

  /** Adds a run, together with those before it that are short. Inside a transaction. */
  add(built: RunBuilder): void {
    const joined: Run[] = [];
    let { pairs, first } = built;
    for (const run of this.#sql.newestFirst.all().map(readRun)) {
      const isShort = run.last + 1 - run.first < ratio * (built.next - first);
      const fits = built.next - run.first <= mostPlaces && pairs + run.pairs <= mostJoinedPairs;
      if (!isShort || !fits) break;
      joined.unshift(run);
      pairs += run.pairs;
      first = run.first;
    }
    const times = joined[0] === undefined ? built.times : this.#timesOf(joined[0]);
    for (const run of joined.slice(1)) times.join(run.first, this.#timesOf(run));
    if (joined.length > 0) times.join(built.first, built.times);
    const parts = [
      ...joined.map((run) => ({ from: run.first - first, postings: this.#postingsOf(run) })),
      { from: built.first - first, postings: built.postings() },
    ];
    this.#write({ first, last: built.next - 1, times }, joinPostings(parts), joined);
  }

  /** Those that have these places. */
  meeting(meets: (from: number, to: number) => boolean): readonly Run[] {
    return this.#all().filter(({ first, last }) => meets(first, last));
  }

  /** Rewrites a run: drops what it has about some places, and adds what is known about them now. */
  replace(run: Run, isForgotten: (place: number) => boolean, known: RunBuilder): void {
    const kept = this.#postingsOf(run, (offset) => !isForgotten(run.first + offset));
    const postings = joinPostings([
      { from: 0, postings: kept },
      { from: 0, postings: known.postings() },
    ]);
    this.#write({ ...run, times: this.#timesOf(run) }, postings, [run]);
  }

  /** Those between two places, newest first or oldest first. */
  between(low: number, high: number, { isForward }: { readonly isForward: boolean }): readonly Run[] {
    const runs = this.#all().filter(({ first, last }) => last >= low && first <= high);
    return isForward ? runs.toReversed() : runs;
  }

  /** A bit for each place of the run that may match. Undefined: none does. */
  search(run: Run, { groups, words, without, sinceMs, untilMs }: Question): Uint32Array | undefined {
    if (run.toMs < sinceMs || run.fromMs >= untilMs) return undefined;
    let found: Uint32Array | undefined;
    const keepOnly = (bits: Uint32Array | undefined): boolean => {
      if (bits === undefined) return false;
      if (found === undefined) {
        found = bits;
        return true;
      }
      let some = 0;
      for (let at = 0; at < found.length; at += 1) {
        found[at] = (found[at] as number) & (bits[at] as number);
        some |= found[at] as number;
      }
      return some !== 0;
    };
    for (const keys of groups) if (!keepOnly(this.#placesOf(run, keys))) return undefined;
    for (const word of words) if (!keepOnly(this.#placesWith(run, word))) return undefined;
    found ??= this.#placesOf(run, everyEntry);
    if (found === undefined) return undefined;
    const left = this.#placesOf(run, without);
    if (left !== undefined)
      for (let at = 0; at < found.length; at += 1) found[at] = (found[at] as number) & ~(left[at] as number);
    if (sinceMs > run.fromMs || untilMs <= run.toMs) this.#timesOf(run).keepWithin(found, sinceMs, untilMs);
    return isEmpty(found) ? undefined : found;
  }

  /** Whether any entry has the term. */
  has(term: Term): boolean {
    const key = [bytesOf(keyOfTerm(term))];
    return this.#all().some((run) => this.#placesOf(run, key) !== undefined);
  }

  #all(): readonly Run[] {
    this.#known ??= this.#sql.newestFirst.all().map(readRun);
    return this.#known;
  }

  /** Undefined: no place has any of the keys, which is usual for rare ones. */
  #placesOf(run: Run, keys: readonly Buffer[]): Uint32Array | undefined {
    let bits: Uint32Array | undefined;
    for (const key of keys) {
      const { chunk, nth } = this.#chunkFor(run, key) ?? { nth: -1 };
      if (chunk === undefined || nth < 0 || !chunk.isKeyAt(nth, key)) continue;
      bits ??= new Uint32Array(mostPlaces / 32);
      chunk.mark(nth, bits);
    }
    return bits;
  }

  #placesWith(run: Run, { key, isBeginning }: Question['words'][number]): Uint32Array | undefined {
    if (!isBeginning) return this.#placesOf(run, [key]);
    const bits = new Uint32Array(mostPlaces / 32);
    const start = key.toString('latin1');
    const begin = this.#chunkFor(run, key);
    for (let id = begin?.id ?? run.chunk, from = begin?.nth ?? 0; id < run.chunk + run.chunks; id += 1, from = 0) {
      const chunk = this.#read(id);
      for (let nth = Math.max(0, from); nth < chunk.size; nth += 1) {
        const found = chunk.keyAt(nth);
        if (found.startsWith(start)) chunk.mark(nth, bits);
        else if (found > start) return bits;
      }
    }
    return bits;
  }

  /** The chunk that has the key if any has, and the last key there that does not come after it. */
  #chunkFor(run: Run, key: Buffer): { readonly id: number; readonly chunk: Chunk; readonly nth: number } | undefined {
    let id = run.chunk;
    if (run.roots > 0) {
      const nth = this.#findRoot(run, key);
      if (nth < 0) return undefined;
      id += nth;
    }
    const chunk = this.#read(id);
    return { id, chunk, nth: chunk.findLast(key) };
  }

  #findRoot(run: Run, key: Buffer): number {
    let roots = this.#roots.get(run.chunk);
    if (roots === undefined) {
      const from = run.chunk + run.chunks;
      roots = Array.from({ length: run.roots }, (_, at) => this.#read(from + at));
      if (this.#roots.size >= mostKnownRoots) this.#roots.clear();
      this.#roots.set(run.chunk, roots);
    }
    let before = 0;
    let found = -1;
    for (const root of roots) {
      const nth = root.findLast(key);
      if (nth < 0) break;
      found = before + nth;
      before += root.size;
    }
    return found;
  }

  #read(id: number): Chunk {
    return new Chunk(this.#sql.chunk.get(id)?.['bytes'] as Uint8Array);
  }

  *#postingsOf(
    { chunk: from, chunks }: Run,
    isKept: (offset: number) => boolean = () => true,
  ): Generator<readonly [Key, readonly number[]]> {
    for (let id = from; id < from + chunks; id += 1) {
      const chunk = this.#read(id);
      for (let nth = 0; nth < chunk.size; nth += 1) {
        const places = chunk.placesOf(nth).filter(isKept);
        if (places.length > 0) yield [chunk.keyAt(nth), places];
      }
    }
  }

  #timesOf({ first }: Run): TimeSpans {
    return new TimeSpans(first, this.#sql.times.get(first)?.['times'] as Uint8Array);
  }

  #write(
    run: { readonly first: number; readonly last: number; readonly times: TimeSpans },
    postings: Postings,
    instead: readonly Run[],
  ): void {
    const start = Number(this.#sql.lastChunk.get()?.['id'] ?? 0) + 1;
    let next = start;
    let pairs = 0;
    const insert = (bytes: Buffer): void => {
      this.#sql.insertChunk.run(next, bytes);
      next += 1;
    };
    const firsts: Key[] = [];
    const writer = new ChunkWriter((bytes, first) => {
      firsts.push(first);
      insert(bytes);
    });
    for (let each = postings.next(); each.done !== true; each = postings.next()) {
      writer.add(...each.value);
      pairs += each.value[1].length;
    }
    writer.end();
    const chunks = next - start;
    if (chunks > 1) {
      const roots = new ChunkWriter(insert);
      for (const first of firsts) roots.add(first, []);
      roots.end();
    }
    for (const { first, chunk, chunks: count, roots } of instead) {
      this.#sql.dropRun.run(first);
      this.#sql.dropChunks.run(chunk, chunk + count + roots - 1);
    }
    this.forget();
    const { first, last, times } = run;
    const roots = next - start - chunks;
    this.#sql.insertRun.run(first, last, pairs, start, chunks, roots, times.fromMs, times.toMs, times.encode());
  }

  /** Drops what is cached of the file: runs have changed, and their numbers may be used again. */
  forget(): void {
    this.#roots.clear();
    this.#known = undefined;
  }
}

function prepare(
  database: Database,
): Record<
  ('newestFirst' | 'times' | 'insertRun' | 'dropRun') | ('chunk' | 'lastChunk' | 'insertChunk' | 'dropChunks'),
  Statement
> {
  const columns = 'first, last, pairs, chunk, chunks, roots, from_ms, to_ms';
  return {
    newestFirst: database.prepare(`SELECT ${columns} FROM runs ORDER BY first DESC`),
    times: database.prepare('SELECT times FROM runs WHERE first = ?'),
    insertRun: database.prepare('INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)'),
    dropRun: database.prepare('DELETE FROM runs WHERE first = ?'),
    chunk: database.prepare('SELECT bytes FROM chunks WHERE id = ?'),
    lastChunk: database.prepare('SELECT max(id) AS id FROM chunks'),
    insertChunk: database.prepare('INSERT INTO chunks VALUES (?, ?)'),
    dropChunks: database.prepare('DELETE FROM chunks WHERE id BETWEEN ? AND ?'),
  };
}

function bytesOf(key: Key): Buffer {
  return Buffer.from(key, 'latin1');
}

function isEmpty(bits: Uint32Array): boolean {
  for (let at = 0; at < bits.length; at += 1) if (bits[at] !== 0) return false;
  return true;
}

function readRun(row: Row): Run {
  return {
    first: Number(row['first']),
    last: Number(row['last']),
    pairs: Number(row['pairs']),
    chunk: Number(row['chunk']),
    chunks: Number(row['chunks']),
    roots: Number(row['roots']),
    fromMs: Number(row['from_ms']),
    toMs: Number(row['to_ms']),
  };
}
