import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Mode } from '../model/session.ts';
import { ToolFailure } from '../model/tool.ts';
import { RunningCalls } from './running-calls.ts';

const changing = { mutates: true, audience: 'everyone' } as const;

test('LOCKDOWN stops what changes something, and neither reading nor administration', () => {
  const running = new RunningCalls(() => 'NORMAL');
  const write = running.enter({ callId: 'write', tool: changing, mode: 'NORMAL' });
  const read = running.enter({ callId: 'read', tool: { ...changing, mutates: false }, mode: 'NORMAL' });
  const administer = running.enter({ callId: 'set', tool: { ...changing, audience: 'operator' }, mode: 'NORMAL' });
  assert.deepEqual([read, administer], [undefined, undefined]);
  assert.equal(write?.signal.aborted, false);
  assert.deepEqual(running.stopChanging(), ['write']);
  assert.ok(write?.signal.reason instanceof ToolFailure);
  assert.equal(write.signal.reason.code, 'CANCELLED');
});

test('a call that has ended is not stopped', () => {
  const running = new RunningCalls(() => 'NORMAL');
  const call = running.enter({ callId: 'write', tool: changing, mode: 'NORMAL' });
  call?.leave();
  assert.deepEqual(running.stopChanging(), []);
  assert.equal(call?.signal.aborted, false);
});

test('a call that was let through before LOCKDOWN and begins after it is stopped at once', () => {
  let mode: Mode = 'NORMAL';
  const running = new RunningCalls(() => mode);
  mode = 'LOCKDOWN';
  assert.equal(running.enter({ callId: 'late', tool: changing, mode: 'NORMAL' })?.signal.aborted, true);
  assert.equal(running.enter({ callId: 'named', tool: changing, mode: 'LOCKDOWN' })?.signal.aborted, false);
});
