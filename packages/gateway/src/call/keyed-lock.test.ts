import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeyedLock } from './keyed-lock.ts';

const still = new AbortController().signal;
const settle = () => new Promise((resolve) => setImmediate(resolve));

test('holders of one key follow each other in order', async () => {
  const lock = new KeyedLock();
  const order: number[] = [];
  let inside = 0;
  const hold = async (turn: number): Promise<void> => {
    const release = await lock.acquire('a', still);
    assert.equal(++inside, 1);
    order.push(turn);
    await settle();
    inside--;
    release?.();
  };
  await Promise.all([1, 2, 3, 4].map(hold));
  assert.deepEqual(order, [1, 2, 3, 4]);
});

test('different keys do not wait for each other', async () => {
  const lock = new KeyedLock();
  await lock.acquire('a', still);
  assert.equal(typeof (await lock.acquire('b', still)), 'function');
});

test('releasing twice lets one waiter go on, not two', async () => {
  const lock = new KeyedLock();
  const release = await lock.acquire('a', still);
  const went: string[] = [];
  const second = lock.acquire('a', still).then((next) => (went.push('second'), next));
  void lock.acquire('a', still).then(() => went.push('third'));
  release?.();
  release?.();
  await second;
  await settle();
  assert.deepEqual(went, ['second']);
});

test('a late second release does not take the key from its present holder', async () => {
  const lock = new KeyedLock();
  const first = await lock.acquire('a', still);
  first?.();
  await lock.acquire('a', still);
  first?.();
  let went = false;
  void lock.acquire('a', still).then(() => (went = true));
  await settle();
  assert.equal(went, false);
});

test('who goes away while waiting gets nothing, and the key passes on', async () => {
  const lock = new KeyedLock();
  const release = await lock.acquire('a', still);
  const leaving = new AbortController();
  const gone = lock.acquire('a', leaving.signal);
  const behind = lock.acquire('a', still);
  leaving.abort();
  assert.equal(await gone, undefined);
  release?.();
  assert.equal(typeof (await behind), 'function');
});

test('who has gone already does not wait, but a free key is still handed out', async () => {
  const lock = new KeyedLock();
  const gone = AbortSignal.abort();
  const release = await lock.acquire('a', gone);
  assert.equal(typeof release, 'function');
  assert.equal(await lock.acquire('a', gone), undefined);
});
