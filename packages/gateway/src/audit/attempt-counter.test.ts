import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogEntry } from '../storage/stores.ts';
import { AttemptCounter } from './attempt-counter.ts';

function openCounter() {
  const entries: LogEntry[] = [];
  const counter = new AttemptCounter({ append: (entry) => Promise.resolve({ index: entries.push(entry) }) });
  return { counter, counted: () => entries.map(({ timeMs, payload }) => [timeMs, payload]) };
}

const countOf = (source: string, count: number) =>
  `{"count":${count},"event":"attempts_without_session","source":"${source}"}`;

test('the first attempt of a source in a second deserves a record, the others are counted', () => {
  const { counter, counted } = openCounter();
  assert.equal(counter.isFirst('a', 1000), true);
  assert.equal(counter.isFirst('a', 1001), false);
  assert.equal(counter.isFirst('a', 1999), false);
  assert.equal(counter.isFirst('b', 1999), true);
  assert.deepEqual(counted(), []);
  assert.equal(counter.isFirst('a', 2000), true);
  assert.deepEqual(counted(), [[1000, countOf('a', 2)]]);
});

test('seconds that are over are recorded and forgotten, the present one stays open', () => {
  const { counter, counted } = openCounter();
  for (const source of ['a', 'b']) for (const atMs of [1000, 1500]) counter.isFirst(source, atMs);
  counter.isFirst('c', 1000);
  counter.isFirst('d', 2000);
  counter.isFirst('d', 2001);
  counter.flush(2500);
  assert.deepEqual(counted(), [
    [1000, countOf('a', 1)],
    [1000, countOf('b', 1)],
  ]);
  assert.equal(counter.isFirst('d', 2002), false);
  counter.flush(Number.MAX_SAFE_INTEGER);
  assert.deepEqual(counted().at(-1), [2000, countOf('d', 2)]);
  counter.flush(Number.MAX_SAFE_INTEGER);
  assert.equal(counted().length, 3);
});

test('a store that refuses the count harms nobody', async () => {
  const counter = new AttemptCounter({ append: () => Promise.reject(new Error('sealed')) });
  counter.isFirst('a', 1000);
  counter.isFirst('a', 1000);
  counter.flush(5000);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(counter.isFirst('a', 6000), true);
});
