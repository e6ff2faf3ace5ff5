import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecentlyUsed } from './recently-used.ts';

test('the values used last stay, however many others come', () => {
  const kept = new RecentlyUsed<string, number>(10);
  kept.set('used', 1);
  for (let other = 0; other < 1000; other++) {
    kept.set(`other ${other}`, other);
    if (other % 10 === 0) assert.equal(kept.get('used'), 1);
  }
  for (let other = 991; other < 1000; other++) assert.equal(kept.get(`other ${other}`), other);
});

test('it never keeps more than twice as many as it must', () => {
  const kept = new RecentlyUsed<number, number>(10);
  for (let key = 0; key < 1000; key++) kept.set(key, key);
  const left = Array.from({ length: 1000 }, (_, key) => key).filter((key) => kept.get(key) !== undefined);
  assert.ok(left.length >= 10 && left.length <= 20, `${left.length}`);
});

test('a value that was set anew is the new one, also after the old one has aged', () => {
  const kept = new RecentlyUsed<string, string>(2);
  kept.set('a', 'first');
  kept.set('b', 'first');
  kept.set('c', 'first');
  kept.set('a', 'second');
  assert.equal(kept.get('a'), 'second');
  kept.set('d', 'first');
  assert.equal(kept.get('a'), 'second');
});

test('what was deleted is gone from young and old', () => {
  const kept = new RecentlyUsed<string, number>(2);
  for (const key of ['a', 'b', 'c']) kept.set(key, 1);
  assert.equal(kept.get('a'), 1);
  kept.delete('a');
  assert.equal(kept.get('a'), undefined);
});
