import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Remembered } from './remembered.ts';

test('what was worked out is the same object again, until there is no room', () => {
  const worked: string[] = [];
  const remembered = new Remembered(2, (key: string) => (worked.push(key), { key }));
  const first = remembered.of('a');
  assert.equal(remembered.of('a'), first);
  remembered.of('b');
  remembered.of('c');
  assert.deepEqual(worked, ['a', 'b', 'c']);
  assert.notEqual(remembered.of('a'), first);
  assert.deepEqual(remembered.of('a'), first);
});
