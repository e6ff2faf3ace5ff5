import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Mode } from '../model/session.ts';
import { ToolFailure } from '../model/tool.ts';
import type { ToolDefinition } from '../model/tool.ts';
import { noGrants } from '../model/verdict.ts';
import type { Verdict } from '../model/verdict.ts';
import { allow, argumentsOf, judgedAs, toolOf } from '../stages/facts.test-kit.ts';
import { mayReachOut, RunningCalls } from './running-calls.ts';

const changing = { mutates: true, audience: 'everyone' } as const;
const near = { reachesOut: false, mode: 'NORMAL' } as const;

test('LOCKDOWN stops what changes something, and neither reading nor administration', () => {
  const running = new RunningCalls(() => 'NORMAL');
  const write = running.enter({ callId: 'write', tool: changing, ...near });
  const read = running.enter({ callId: 'read', tool: { ...changing, mutates: false }, ...near });
  const administer = running.enter({ callId: 'set', tool: { ...changing, audience: 'operator' }, ...near });
  assert.deepEqual([read, administer], [undefined, undefined]);
  assert.equal(write?.signal.aborted, false);
  assert.deepEqual(running.stopChanging(), ['write']);
  assert.ok(write?.signal.reason instanceof ToolFailure);
  assert.equal(write.signal.reason.code, 'CANCELLED');
});

test('a call that has ended is not stopped', () => {
  const running = new RunningCalls(() => 'NORMAL');
  const call = running.enter({ callId: 'write', tool: changing, ...near });
  call?.leave();
  assert.deepEqual(running.stopChanging(), []);
  assert.equal(call?.signal.aborted, false);
});

test('a call that was let through before LOCKDOWN and begins after it is stopped at once', () => {
  let mode: Mode = 'NORMAL';
  const running = new RunningCalls(() => mode);
  mode = 'LOCKDOWN';
  assert.equal(running.enter({ callId: 'late', tool: changing, ...near })?.signal.aborted, true);
  assert.equal(running.enter({ callId: 'named', tool: changing, ...near, mode: 'LOCKDOWN' })?.signal.aborted, false);
});

test('what LOCKDOWN stops beyond this machine has an unknown effect', () => {
  const running = new RunningCalls(() => 'NORMAL');
  const push = running.enter({ callId: 'push', tool: changing, ...near, reachesOut: true });
  running.stopChanging();
  const reason: unknown = push?.signal.reason;
  assert.ok(reason instanceof ToolFailure);
  assert.equal(reason.code, 'EFFECT_UNKNOWN');
});

test('a call reaches out that goes to an upstream server, or names or is granted hosts', () => {
  const grants = { ...noGrants, hosts: ['example.com'] };
  const network = { scopes: ['network'] } as const;
  const ask = (definition: Partial<ToolDefinition>, hosts: readonly string[] = [], verdict: Verdict = allow) =>
    mayReachOut({ ...argumentsOf(), resources: { paths: [], hosts }, tool: toolOf(definition), ...judgedAs(verdict) });
  assert.equal(ask({ origin: 'upstream' }), true);
  assert.equal(ask(network, ['example.com']), true);
  assert.equal(ask(network, [], { ...allow, grants }), true);
  assert.equal(ask(network), false);
  assert.equal(ask({ scopes: ['paths'] }, [], { ...allow, grants }), false);
});
