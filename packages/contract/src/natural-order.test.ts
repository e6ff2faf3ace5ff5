import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareNaturally, sortNaturally } from './natural-order.ts';

test('numbers in names are ordered as numbers', () => {
  const names = ['step10', 'step9', 'a', 'step', 'step9b', 'step09', 'b2.x', 'b10.x', 'b2.y'];
  assert.deepEqual([...names].sort(compareNaturally), [
    ...['a', 'b2.x', 'b2.y', 'b10.x', 'step', 'step9', 'step9b', 'step09', 'step10'],
  ]);
});

test('the order is total: antisymmetric, transitive, and equal only for the same text', () => {
  const names = fc.string({ unit: fc.constantFrom('a', 'b', '0', '1', '9', '.', '-'), maxLength: 6 });
  fc.assert(
    fc.property(names, names, names, (a, b, c) => {
      const [ab, ba] = [compareNaturally(a, b), compareNaturally(b, a)];
      assert.equal(Math.sign(ab) + Math.sign(ba), 0);
      assert.equal(ab === 0, a === b);
      if (ab <= 0 && compareNaturally(b, c) <= 0) assert.ok(compareNaturally(a, c) <= 0);
    }),
  );
});

test('a list is sorted as its names are compared, and stays as it was', () => {
  const items = ['f10', 'f2', 'F1', 'f1', 'f01'].map((name) => ({ name }));
  const sorted = sortNaturally(items, ({ name }) => name).map(({ name }) => name);
  assert.deepEqual(sorted, items.map(({ name }) => name).sort(compareNaturally));
  assert.deepEqual(sorted, ['F1', 'f1', 'f01', 'f2', 'f10']);
  assert.equal(items[0]?.name, 'f10');
});
