import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nearestNames } from './nearest-names.ts';

const known = ['files.read', 'files.write', 'files.search', 'git.diff', 'shell.run'];

test('the nearest names come first', () => {
  assert.deepEqual(nearestNames('files.raed', known), ['files.read', 'files.write']);
  assert.equal(nearestNames('FILES.READ', known)[0], 'files.read');
  assert.deepEqual(nearestNames('diff', known), ['git.diff']);
  assert.equal(nearestNames('git_diff', known)[0], 'git.diff');
});

test('what is far from everything has no suggestion', () => {
  assert.deepEqual(nearestNames('send_money_abroad', known), []);
  assert.deepEqual(nearestNames('files.read', []), []);
});

test('there are at most as many as asked for, in a fixed order', () => {
  const same = ['ab', 'ad', 'ac'];
  assert.deepEqual(nearestNames('aa', same), ['ab', 'ac', 'ad']);
  assert.deepEqual(nearestNames('aa', same, 1), ['ab']);
});

test('a known name is its own nearest, whatever else there is', () => {
  const name = fc.string({ minLength: 1, maxLength: 20, unit: fc.constantFrom('a', 'b', 'c', '.', '_') });
  fc.assert(
    fc.property(fc.uniqueArray(name, { minLength: 1, maxLength: 10 }), fc.nat(), (names, at) => {
      const wanted = names[at % names.length] ?? '';
      const found = nearestNames(wanted, names, names.length);
      assert.ok(found.includes(wanted));
      for (const suggestion of found) assert.ok(names.includes(suggestion));
    }),
  );
});

test('a name of a megabyte is compared by its beginning only', () => {
  assert.deepEqual(nearestNames('x'.repeat(1_000_000), known), []);
});
