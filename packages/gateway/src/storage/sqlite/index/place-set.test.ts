import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PlaceSet } from './place-set.ts';

test('a set of places has what its ranges have, in whatever order they came', () => {
  const range = fc.tuple(fc.nat(60), fc.nat(5)).map(([from, more]) => [from, from + more] as const);
  fc.assert(
    fc.property(fc.array(range, { maxLength: 12 }), fc.nat(60), fc.nat(9), (ranges, from, more) => {
      const places = new PlaceSet(ranges);
      const isIn = (place: number): boolean => ranges.some(([low, high]) => low <= place && place <= high);
      assert.equal(places.has(from), isIn(from));
      const between = Array.from({ length: more + 1 }, (_, at) => from + at);
      assert.equal(places.meets(from, from + more), between.some(isIn));
    }),
  );
});
