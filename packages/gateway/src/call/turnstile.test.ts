import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import { Turnstile } from './turnstile.ts';

const still = new AbortController();
const limits = { maxRunning: 3, maxRunningPerSession: 2 };

test('calls beyond the limits wait, and go on in order when a place is free', async () => {
  requirement('RATE-2');
  const turnstile = new Turnstile(() => limits);
  const first = await turnstile.take('a', still);
  const second = await turnstile.take('a', still);
  const order: string[] = [];
  const third = Promise.resolve(turnstile.take('a', still)).then((release) => (order.push('third'), release));
  const fourth = Promise.resolve(turnstile.take('a', still)).then((release) => (order.push('fourth'), release));
  assert.equal(turnstile.running, 2);
  first?.();
  (await third)?.();
  (await fourth)?.();
  second?.();
  assert.deepEqual(order, ['third', 'fourth']);
  assert.equal(turnstile.running, 0);
});

test('a busy session does not hold up another one', async () => {
  const turnstile = new Turnstile(() => limits);
  await turnstile.take('a', still);
  await turnstile.take('a', still);
  void turnstile.take('a', still);
  assert.equal(typeof (await turnstile.take('b', still)), 'function');
});

test('who goes away while waiting gets no place and takes none', async () => {
  const turnstile = new Turnstile(() => ({ maxRunning: 1, maxRunningPerSession: 1 }));
  const release = await turnstile.take('a', still);
  const leaving = new AbortController();
  const waiting = turnstile.take('a', leaving);
  leaving.abort();
  assert.equal(await waiting, undefined);
  release?.();
  assert.equal(turnstile.running, 0);
});

test('releasing twice frees one place', async () => {
  const turnstile = new Turnstile(() => limits);
  const release = await turnstile.take('a', still);
  await turnstile.take('a', still);
  release?.();
  release?.();
  assert.equal(turnstile.running, 1);
});

test('two sessions that take all they get leave places for a third, and for one after it', () => {
  const turnstile = new Turnstile(() => ({ maxRunning: 64, maxRunningPerSession: 32 }));
  const fill = (session: string): number => {
    let taken = 0;
    while (typeof turnstile.take(session, still) === 'function') taken++;
    return taken;
  };
  assert.deepEqual(['a', 'b', 'c', 'd'].map(fill), [32, 16, 8, 4]);
});

test('what becomes free goes to the session that has the least, not to the one that asks the most', async () => {
  const turnstile = new Turnstile(() => ({ maxRunning: 4, maxRunningPerSession: 4 }));
  const releases = [await turnstile.take('a', still), await turnstile.take('a', still)];
  releases.push(await turnstile.take('b', still), await turnstile.take('c', still));
  const order: string[] = [];
  const waiting = ['a', 'a', 'b', 'd'].map((session) =>
    Promise.resolve(turnstile.take(session, still)).then((release) => (order.push(session), release)),
  );
  releases[0]?.();
  (await waiting[3])?.();
  releases[1]?.();
  await Promise.race(waiting);
  for (const release of releases) release?.();
  for (const each of waiting) void each.then((release) => release?.());
  await Promise.all(waiting);
  assert.equal(order[0], 'd');
  assert.equal(turnstile.running, 0);
});

test('who waits too long gets no place, and one session does not fill the queue', async () => {
  const none = { maxRunning: 0, maxRunningPerSession: 0 };
  const turnstile = new Turnstile(() => none, { longestWaitMs: 20 });
  const waiting = Array.from({ length: 2048 }, () => turnstile.take('a', still));
  assert.equal(await turnstile.take('a', still), undefined);
  const other = turnstile.take('b', still);
  assert.equal(await Promise.race([other, Promise.resolve('waits')]), 'waits');
  assert.deepEqual(new Set(await Promise.all([...waiting, other])), new Set([undefined]));
});
