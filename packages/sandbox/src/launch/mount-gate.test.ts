import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MountClaims } from './launch.ts';
import { MountGate, MountsBusy, mayOverlap } from './mount-gate.ts';

const claim = (
  writes: readonly string[],
  holds: readonly string[] = [],
  shuts: readonly string[] = [],
  misses: readonly string[] = [],
): MountClaims => ({ writes, holds, shuts, misses });

const plain = claim(['/w']);
const guarded = claim(['/w'], ['/w/.git'], ['/w/.git']);
const never = new AbortController().signal;

test('programs that hold the same paths may overlap, and so may those with nothing in common', () => {
  assert.ok(mayOverlap(plain, plain));
  assert.ok(mayOverlap(guarded, guarded));
  assert.ok(mayOverlap(guarded, claim(['/other'])));
  assert.ok(mayOverlap(guarded, claim([])));
});

test('a program that could exchange what another one holds must not overlap with it', () => {
  assert.ok(!mayOverlap(guarded, plain));
  assert.ok(!mayOverlap(plain, guarded));
  assert.ok(!mayOverlap(guarded, claim(['/'])));
  assert.ok(!mayOverlap(guarded, claim(['/w/.git'])));
  assert.ok(!mayOverlap(claim([], ['/w/a']), plain), 'even if the other one only reads');
});

test('a program that could bring back what another one was to be kept from must not overlap with it', () => {
  const missing = claim(['/w'], [], [], ['/w/a/.env']);
  assert.ok(!mayOverlap(missing, plain));
  assert.ok(!mayOverlap(plain, missing));
  assert.ok(!mayOverlap(missing, missing), 'nothing is mounted there for either');
  assert.ok(!mayOverlap(claim([], [], [], ['/w/a/.env']), plain), 'even if it only reads');
  assert.ok(mayOverlap(missing, claim(['/other'])));
  assert.ok(mayOverlap(claim([], [], [], ['/w/a/.env']), claim(['/w'], ['/w/a'], ['/w/a'])));
});

test('what is in something shut cannot be exchanged', () => {
  assert.ok(mayOverlap(guarded, claim(['/w'], ['/w/.git', '/w/.git/secret'], ['/w/.git', '/w/.git/secret'])));
});

test('a later program waits until all earlier ones that could disturb it have left', async () => {
  const gate = new MountGate();
  const leaveFirst = await gate.enter(plain, never);
  const leaveSecond = await gate.enter(plain, never);
  let hasEntered = false;
  const third = gate.enter(guarded, never).then((leave) => ((hasEntered = true), leave));
  leaveFirst();
  await new Promise(setImmediate);
  assert.ok(!hasEntered);
  leaveSecond();
  const leaveThird = await third;
  (await gate.enter(guarded, never))();
  leaveThird();
  (await gate.enter(plain, never))();
});

test('one that waits keeps later ones waiting, so that it is not overtaken for ever', async () => {
  const gate = new MountGate();
  const leaveFirst = await gate.enter(plain, never);
  const order: string[] = [];
  const second = gate.enter(guarded, never).then((leave) => (order.push('guarded'), leave()));
  const third = gate.enter(plain, never).then((leave) => (order.push('plain'), leave()));
  leaveFirst();
  await Promise.all([second, third]);
  assert.deepEqual(order, ['guarded', 'plain']);
});

test('one that gives up waiting is in nobody’s way', async () => {
  const gate = new MountGate();
  const leave = await gate.enter(plain, never);
  const impatient = new AbortController();
  const waiting = gate.enter(guarded, impatient.signal);
  impatient.abort(new Error('too long'));
  await assert.rejects(waiting, MountsBusy);
  (await gate.enter(plain, never))();
  leave();
  await assert.rejects(gate.enter(plain, AbortSignal.abort(new Error('before'))), /before/);
});
