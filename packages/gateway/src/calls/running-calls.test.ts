import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CallEnded } from '../call/call-ended.ts';
import type { Mode } from '../call/session.ts';
import type { ToolDefinition } from '../call/tool.ts';
import { noGrants } from '../call/verdict.ts';
import type { Verdict } from '../call/verdict.ts';
import { allow, argumentsOf, judgedAs, sessionOf, still, toolOf } from '../stages/facts.test-kit.ts';
import type { BegunCall } from '../call/under-way.ts';
import { mayReachOut, RunningCalls } from './running-calls.ts';
import type { RunningCall } from './running-calls.ts';

const changing = { name: 'notes.write', mutates: true, audience: 'everyone' } as const;

function openCalls(currentMode: () => Mode = () => 'NORMAL') {
  const running = new RunningCalls(currentMode);
  const open = (callId: string, caller = still) =>
    running.open({ callId, toolName: 'notes.write', startedAtMs: 7 }, caller);
  const begin = (callId: string, more: Partial<BegunCall> = {}) => {
    const opened = open(callId);
    opened.begin({ tool: changing, reachesOut: false, mode: 'NORMAL', ...more });
    return opened;
  };
  return { running, open, begin };
}

function reasonOf({ cancellation: { reason } }: RunningCall): CallEnded {
  return reason instanceof CallEnded ? reason : assert.fail('it was not ended');
}

test('LOCKDOWN ends what changes something and has begun, and neither reading nor administration', () => {
  const { running, open, begin } = openCalls();
  const write = begin('write');
  begin('read', { tool: { ...changing, mutates: false } });
  begin('set', { tool: { ...changing, audience: 'operator' } });
  open('waiting');
  assert.deepEqual(running.endChanging('olga'), ['write']);
  const { code, how, by, message } = reasonOf(write);
  assert.deepEqual([code, how, by], ['CANCELLED', 'lockdown', 'olga']);
  assert.match(message, /^LOCKDOWN began \(olga\)/);
});

test('a call that has ended is not ended again', () => {
  const { running, begin } = openCalls();
  const call = begin('write');
  call.close();
  assert.deepEqual(running.endChanging('olga'), []);
  assert.equal(running.cancel('write', 'olga'), false);
  assert.equal(call.cancellation.aborted, false);
});

test('a call that was let through before LOCKDOWN and begins after it is ended at once', () => {
  let mode: Mode = 'NORMAL';
  const { begin } = openCalls(() => mode);
  mode = 'LOCKDOWN';
  assert.equal(begin('late').cancellation.aborted, true);
  assert.equal(begin('named', { mode: 'LOCKDOWN' }).cancellation.aborted, false);
});

test('what is ended beyond this machine has an unknown effect, if it changes something', () => {
  const { running, begin } = openCalls();
  const push = begin('push', { reachesOut: true });
  const look = begin('look', { reachesOut: true, tool: { ...changing, mutates: false } });
  for (const id of ['push', 'look']) assert.equal(running.cancel(id, 'olga'), true);
  assert.deepEqual([reasonOf(push).code, reasonOf(look).code], ['EFFECT_UNKNOWN', 'CANCELLED']);
});

test('the end of a session ends its calls and no others', () => {
  const { running, open, begin } = openCalls();
  const [mine, waiting, other] = [begin('mine'), open('waiting'), begin('other')];
  const session = sessionOf({ id: 's-1', agent: 'ada' });
  for (const call of [mine, waiting]) call.identify(session);
  other.identify(sessionOf({ id: 's-2' }));
  assert.deepEqual(running.endSession('s-1', 'olga'), ['mine', 'waiting']);
  assert.match(reasonOf(mine).message, /olga ended the session/);
  assert.equal(reasonOf(waiting).how, 'session-end');
  assert.equal(other.cancellation.aborted, false);
});

test('calls are listed as soon as it is known whose they are', () => {
  const { running, open, begin } = openCalls();
  open('unknown');
  const session = sessionOf({ id: 's-1', agent: 'ada' });
  for (const call of [open('waiting'), begin('running')]) call.identify(session);
  assert.deepEqual(
    running.list().map(({ callId, tool, state, startedAtMs }) => [callId, tool, state, startedAtMs]),
    [
      ['waiting', 'notes.write', 'waiting', 7],
      ['running', 'notes.write', 'running', 7],
    ],
  );
});

test('a caller who leaves aborts the call, with the own reason of the caller', () => {
  const { open } = openCalls();
  const leaving = new AbortController();
  const call = open('a', leaving.signal);
  const gone = new Error('gone');
  leaving.abort(gone);
  assert.equal(call.cancellation.reason, gone);
});

test('a stop lets calls finish for a moment, ends the others, and takes no further one', async () => {
  const { running, open, begin } = openCalls();
  const [quick, slow] = [begin('quick'), begin('slow')];
  slow.cancellation.addEventListener('abort', () => slow.close());
  setImmediate(() => quick.close());
  await running.stop('SIGTERM', { finishMs: 20, endMs: 60_000 });
  assert.equal(quick.cancellation.aborted, false);
  assert.match(reasonOf(slow).message, /stopped \(SIGTERM\)/);
  assert.equal(reasonOf(open('late')).unbegunCode, 'STOPPING');
  await new RunningCalls(() => 'NORMAL').stop('SIGTERM', { finishMs: 60_000, endMs: 60_000 });
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
