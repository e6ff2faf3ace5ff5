import assert from 'node:assert/strict';
import { test } from 'node:test';
import { giveBackMemory } from './give-back-memory.ts';

test('memory is given back once after work, and not while calls are in flight', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  t.mock.method(process, 'cpuUsage', () => ({ user: 0, system: 0 }));
  let [inFlight, collected] = [1, 0];
  const stop = giveBackMemory(
    () => inFlight,
    () => void (collected += 1),
  );
  const wait = (): void => t.mock.timers.tick(5000);
  wait();
  assert.equal(collected, 0, 'a call is in flight');
  inFlight = 0;
  wait();
  wait();
  assert.equal(collected, 1, 'once');
  inFlight = 1;
  wait();
  inFlight = 0;
  wait();
  assert.equal(collected, 2, 'after the next call again');
  stop();
  inFlight = 1;
  wait();
  inFlight = 0;
  wait();
  assert.equal(collected, 2);
});

test('a daemon that is at work is not disturbed', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let busyUs = 1_000_000;
  t.mock.method(process, 'cpuUsage', (since?: unknown) => ({ user: since === undefined ? 0 : busyUs, system: 0 }));
  let collected = 0;
  const stop = giveBackMemory(
    () => 0,
    () => void (collected += 1),
  );
  t.mock.timers.tick(5000);
  assert.equal(collected, 0);
  busyUs = 1000;
  t.mock.timers.tick(5000);
  assert.equal(collected, 1);
  stop();
});
