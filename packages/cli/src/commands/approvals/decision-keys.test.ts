import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layOutKeys, offerKeys } from './decision-keys.ts';

test('the keys fit a terminal of 80 columns, and none is cut in two', () => {
  for (const risk of ['low', 'medium', 'high', 'critical'] as const) {
    const offers = offerKeys({ risk });
    const lines = layOutKeys(offers, 80).split('\n');
    assert.ok(lines.every((line) => line.length <= 80));
    assert.deepEqual(
      lines.flatMap((line) => line.split('  ')),
      offers,
    );
  }
  assert.equal(layOutKeys(['a: one', 'b: two', 'c: three'], 14), 'a: one  b: two\nc: three');
});
