import assert from 'node:assert/strict';
import { test } from 'node:test';
import { takeTurns } from './take-turns.ts';

test('no more questions are asked at once than there are places, and a failure gives its place back', async () => {
  let [now, most] = [0, 0];
  const resolve = takeTurns(async (name) => {
    now += 1;
    most = Math.max(most, now);
    await new Promise((done) => setImmediate(done));
    now -= 1;
    if (name === 'bad.test') throw new Error('no such name');
    return [name];
  }, 2);
  const names = Array.from({ length: 9 }, (_, at) => (at % 3 === 0 ? 'bad.test' : `n${at}.test`));
  const ends = await Promise.allSettled(names.map(resolve));
  assert.deepEqual([most, now], [2, 0]);
  assert.equal(ends.filter(({ status }) => status === 'rejected').length, 3);
  assert.deepEqual(await resolve('again.test'), ['again.test']);
});
