import { isTagOf } from './checkpoint.ts';
import type { TagKey } from './checkpoint.ts';

/** Records in a row whose tags are not those of their places. */
export interface Misfit {
  readonly fromIndex: number;
  toIndex: number;
  /** How far up the log the right place of the tag is. Absent: it fits no place that was tried. */
  shift?: number;
  /** Of the first record of the row. */
  readonly leafHash: Uint8Array;
  readonly tag: Uint8Array;
}

// Searching must not make a hostile log expensive: a try costs about a microsecond and a half.
const maxTriesPerRecord = 4000;
const maxTries = 40_000;
const maxSingles = 100;
const maxRows = 200;

/**
 * Distinguishes moved records from changed ones: the tag of a moved record still fits the place it was written to.
 * Looks nearby first, and then, for two that changed places, among the other misfits.
 */
export class TagMisfits {
  readonly #tagKey: TagKey;
  readonly #rows: Misfit[] = [];
  #triesLeft = maxTries;
  #unkept: { readonly fromIndex: number; toIndex: number } | undefined;

  constructor(tagKey: TagKey) {
    this.#tagKey = tagKey;
  }

  add(index: number, leafHash: Uint8Array, tag: Uint8Array): void {
    const row = this.#rows.at(-1);
    const adjacent = row?.toIndex === index - 1;
    if (adjacent && row.shift !== undefined && this.#fits(index + row.shift, leafHash, tag)) {
      row.toIndex = index;
      return;
    }
    const shift = this.#searchNear(index, leafHash, tag);
    if (adjacent && shift === undefined && row.shift === undefined && this.#rows.length >= maxSingles) {
      row.toIndex = index;
    } else if (this.#rows.length < maxRows) {
      const copies = { leafHash: Uint8Array.from(leafHash), tag: Uint8Array.from(tag) };
      this.#rows.push({ fromIndex: index, toIndex: index, ...(shift === undefined ? {} : { shift }), ...copies });
    } else {
      this.#unkept ??= { fromIndex: index, toIndex: index };
      this.#unkept.toIndex = index;
    }
  }

  /** Call once, after the last record. `unkept` is the stretch that held more rows than are kept. */
  finish(): { readonly rows: readonly Misfit[]; readonly unkept?: Pick<Misfit, 'fromIndex' | 'toIndex'> } {
    const singles = this.#rows.filter((row) => row.shift === undefined && row.fromIndex === row.toIndex);
    for (const row of singles) {
      const home = singles.find(({ fromIndex }) => this.#fits(fromIndex, row.leafHash, row.tag));
      if (home !== undefined) row.shift = home.fromIndex - row.fromIndex;
    }
    return { rows: this.#rows, ...(this.#unkept === undefined ? {} : { unkept: this.#unkept }) };
  }

  #searchNear(index: number, leafHash: Uint8Array, tag: Uint8Array): number | undefined {
    const tries = Math.min(maxTriesPerRecord, this.#triesLeft);
    for (let distance = 1; 2 * distance <= tries; distance += 1) {
      for (const shift of [distance, -distance]) {
        if (index + shift < 0) continue;
        this.#triesLeft -= 1;
        if (this.#fits(index + shift, leafHash, tag)) return shift;
      }
    }
    return undefined;
  }

  #fits(index: number, leafHash: Uint8Array, tag: Uint8Array): boolean {
    return isTagOf(tag, this.#tagKey, index, leafHash);
  }
}
