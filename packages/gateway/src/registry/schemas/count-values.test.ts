import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '@sallyport/contract';
import { countValues } from './count-values.ts';

test('every value counts once, containers too', () => {
  for (const [value, count] of [
    [null, 1],
    ['text', 1],
    [[], 1],
    [[1, 2, 3], 4],
    [{ a: 1, b: [2, { c: 3 }] }, 6],
  ] as const) {
    assert.equal(countValues(value, 100), count, JSON.stringify(value));
  }
});

test('counting stops at enough', () => {
  const leaves = (value: unknown): number =>
    typeof value === 'object' && value !== null
      ? Object.values(value).reduce<number>((sum, member) => sum + leaves(member), 1)
      : 1;
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 30 }), (value, enough) => {
      assert.equal(countValues(value as Json, enough), Math.min(enough, leaves(value)));
    }),
  );
});
