import { hash } from 'node:crypto';
import { termsOf, textOf } from '../../../audit/search/entry-terms.ts';
import type { Term } from '../../../audit/search/entry-terms.ts';
import type { EntryFacts } from '../../../audit/search/entry.ts';
import { splitWords } from '../../../audit/search/split-words.ts';
import { mostPlaces } from './chunk.ts';
import type { Key } from './chunk.ts';
import { TimeSpans } from './time-spans.ts';

/**
 * How many bytes of its hash stand for a term. Two terms may share them, so matches are compared with the filter again.
 */
const termBytes = 6;
/** The longest key of a word; longer words are compared with the text again. */
const mostKeyBytes = 48;
/** This many take up to 60 MB of memory until they are written. */
const mostPairs = 600_000;

export function keyOfTerm(term: Term): Key {
  return `t${hash('sha256', term, 'latin1').slice(0, termBytes)}`;
}

/** Of a word or its beginning, in UTF-8. */
export function keyOfWord(word: string): Key {
  return `w${Buffer.from(word).toString('latin1', 0, mostKeyBytes)}`;
}

/** Keys in rising order, each with the places that have it, counted from the first place of a run. */
export type Postings = Iterator<readonly [key: Key, places: readonly number[]]>;

/** Entries that follow each other, on their way into a run. In memory. */
export class RunBuilder {
  readonly first: number;
  /** The place after the last. */
  next: number;
  readonly times: TimeSpans;
  /** Most terms and words occur once, and need no list. */
  readonly #terms = new Map<Term, number | number[]>();
  readonly #words = new Map<string, number | number[]>();
  #pairs = 0;

  constructor(first: number) {
    this.first = first;
    this.next = first;
    this.times = new TimeSpans(first);
  }

  get pairs(): number {
    return this.#pairs;
  }

  /** Whether it has room for an entry at this place. */
  takes(place: number): boolean {
    return place - this.first < mostPlaces && this.#pairs < mostPairs;
  }

  add(place: number, facts: EntryFacts): void {
    this.addTerms(place, termsOf(facts));
    for (const word of splitWords(textOf(facts))) this.#put(this.#words, word, place);
    this.times.add(place, facts.timeMs);
    this.next = place + 1;
  }

  addTerms(place: number, terms: Iterable<Term>): void {
    for (const term of terms) this.#put(this.#terms, term, place);
  }

  *postings(): Generator<readonly [Key, readonly number[]]> {
    for (const [lists, keyOf] of [[this.#terms, keyOfTerm] as const, [this.#words, keyOfWord] as const]) {
      const keyed: [Key, number | number[]][] = [];
      for (const [name, places] of lists) keyed.push([keyOf(name), places]);
      keyed.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
      yield* joinEqual(keyed);
    }
  }

  #put(lists: Map<string, number | number[]>, name: string, place: number): void {
    const offset = place - this.first;
    const known = lists.get(name);
    if (known === undefined) lists.set(name, offset);
    else if (typeof known === 'number') {
      if (known === offset) return;
      lists.set(name, [known, offset]);
    } else {
      if (known.at(-1) === offset) return;
      known.push(offset);
    }
    this.#pairs += 1;
  }
}

/** Two long words may begin alike, and two terms may share a part of their hash. */
function* joinEqual(keyed: readonly [Key, number | number[]][]): Generator<readonly [Key, readonly number[]]> {
  for (let at = 0; at < keyed.length;) {
    const [key, first] = keyed[at] as [Key, number | number[]];
    let places = typeof first === 'number' ? [first] : first;
    for (at += 1; at < keyed.length && keyed[at]?.[0] === key; at += 1) {
      places = [...new Set([...places, ...[keyed[at]?.[1] ?? []].flat()])].toSorted((a, b) => a - b);
    }
    yield [key, places];
  }
}
