import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import { Turnstile } from './turnstile.ts';

const still = new AbortController().signal;
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
  const waiting = turnstile.take('a', leaving.signal);
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
