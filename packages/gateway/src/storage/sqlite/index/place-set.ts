import type { IndexRange } from '@sallyport/log';

/** Places of the log, as ranges in rising order that do not touch. */
export class PlaceSet {
  readonly ranges: readonly IndexRange[];

  /** In any order. */
  constructor(ranges: readonly IndexRange[]) {
    const joined: [number, number][] = [];
    for (const [from, to] of ranges.toSorted((a, b) => a[0] - b[0])) {
      const last = joined.at(-1);
      if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to);
      else joined.push([from, to]);
    }
    this.ranges = joined;
  }

  has(place: number): boolean {
    return this.meets(place, place);
  }

  /** Whether any place from here to there is in it. */
  meets(from: number, to: number): boolean {
    let [low, high] = [0, this.ranges.length];
    // The first range that does not end before.
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.ranges[middle] as IndexRange)[1] < from) low = middle + 1;
      else high = middle;
    }
    return low < this.ranges.length && (this.ranges[low] as IndexRange)[0] <= to;
  }
}
