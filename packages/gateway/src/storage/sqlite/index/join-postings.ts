import type { Key } from './chunk.ts';
import type { Postings } from './run-builder.ts';

interface Part {
  /** Where its places begin among those of all. */
  readonly from: number;
  readonly postings: Postings;
}

/** Makes one out of several, in the order of their keys. Places of a key are put in order. */
export function* joinPostings(parts: readonly Part[]): Generator<readonly [Key, readonly number[]]> {
  const heads = parts.map(({ from, postings }) => ({ from, postings, head: postings.next() }));
  for (;;) {
    let least: Key | undefined;
    for (const { head } of heads) {
      if (head.done !== true && (least === undefined || head.value[0] < least)) least = head.value[0];
    }
    if (least === undefined) return;
    const places: number[] = [];
    let isRising = true;
    for (const each of heads) {
      if (each.head.done === true || each.head.value[0] !== least) continue;
      for (const place of each.head.value[1]) {
        const shifted = place + each.from;
        isRising &&= shifted > (places.at(-1) ?? -1);
        places.push(shifted);
      }
      each.head = each.postings.next();
    }
    yield [least, isRising ? places : [...new Set(places)].toSorted((a, b) => a - b)];
  }
}
