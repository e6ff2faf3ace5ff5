import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import type { Chained } from '../call/call.ts';
import type { Change } from '../call/journal.ts';
import { refuse } from '../call/refusal.ts';
import type { Rules } from '../call/verdict.ts';
import {
  allow,
  argumentsOf,
  askFirst,
  callOf,
  judgedAs,
  leaseOf,
  parentOf,
  rulesOf,
  sessionOf,
  still,
  toolOf,
  contextParts,
} from '../stages/facts.test-kit.ts';
import { createToolContexts } from './tool-context.ts';

function open(rules = rulesOf(), verdict = allow, lease = leaseOf()) {
  const facts = { ...callOf(), ...argumentsOf(), ...judgedAs(verdict, rules), session: sessionOf(), tool: toolOf() };
  const traceId = parentOf().traceId;
  return createToolContexts(contextParts)(
    { ...facts, traceId, lease, membership: {}, mode: 'ALERT' },
    { signal: still, cancellation: still },
  );
}

test('a tool knows its session, its folder and its signal', () => {
  const { context } = open();
  assert.deepEqual(context.session, sessionOf());
  assert.equal(context.workingDirectory, '/workspace');
  assert.equal(context.callId, callOf().callId);
  assert.equal(context.trashFolder, '/trash');
  assert.equal(context.signal, still);
});

test('what a tool opens is judged by the rules that judged the call, for the same caller in the same mode', () => {
  const asked: Parameters<Rules['judgePaths']>[0][] = [];
  const judge = { judge: () => undefined };
  const rules = rulesOf({ judgePaths: (question) => (asked.push(question), judge) });
  assert.equal(open(rules).context.paths, judge);
  const question = { tool: toolOf().definition, principal: 'agent', agent: 'ada', mode: 'ALERT', consented: false };
  const { value } = argumentsOf().arguments;
  const { startedAtMs } = callOf();
  const unknown = { roles: undefined, teams: undefined, toolGranted: undefined, profile: undefined };
  const more = { ...unknown, history: undefined, agreedAgent: undefined };
  assert.deepEqual(asked, [{ ...question, resources: { paths: [] }, arguments: value, nowMs: startedAtMs, ...more }]);
});

test('only a call that a person was asked about may meet what needs asking', () => {
  const asked: boolean[] = [];
  const rules = rulesOf({ judgePaths: ({ consented }) => (asked.push(consented), { judge: () => undefined }) });
  for (const verdict of [allow, askFirst]) open(rules, verdict).context.paths.judge('/work', 'read');
  assert.deepEqual(asked, [false, true]);
});

test('what leads out of the lease is refused although the rules allow it', () => {
  requirement('PERM-2');
  const { judge } = open(rulesOf(), allow, leaseOf({ paths: ['/work'] })).context.paths;
  for (const access of ['read', 'write'] as const) {
    for (const path of ['/work', '/work/a/b']) assert.equal(judge(path, access), undefined, path);
    for (const path of ['/', '/workshop', '/workshop/a', '/etc/passwd']) {
      assert.equal(judge(path, access)?.code, 'OUTSIDE_LEASE', path);
    }
  }
  assert.equal(
    open(rulesOf(), allow, leaseOf({ paths: [] })).context.paths.judge('/work', 'read')?.code,
    'OUTSIDE_LEASE',
  );
});

test('a lease does not widen: what the rules deny stays denied inside its paths', () => {
  requirement('PERM-2');
  const denial = refuse('RULE_DENIES', 'no', 'No.');
  const rules = rulesOf({ judgePaths: () => ({ judge: () => denial }) });
  assert.equal(open(rules, allow, leaseOf({ paths: ['/work'] })).context.paths.judge('/work/a', 'read'), denial);
});

test('usage adds up, except for the peak of memory', () => {
  const seen = open();
  const { context } = seen;
  assert.deepEqual(seen.usage, {});
  context.countUsage({ cpuMs: 1.5, bytesRead: 10, peakMemoryBytes: 100 });
  context.countUsage({ cpuMs: 1, bytesWritten: 5, networkConnections: 1, peakMemoryBytes: 70 });
  assert.deepEqual(seen.usage, {
    cpuMs: 2.5,
    bytesRead: 10,
    bytesWritten: 5,
    networkConnections: 1,
    peakMemoryBytes: 100,
  });
});

test('what is no measure is not counted, and bytes are whole', () => {
  const seen = open();
  const { context } = seen;
  for (const nothing of [Number.NaN, Infinity, -1]) {
    context.countUsage({ cpuMs: nothing, bytesRead: nothing, peakMemoryBytes: nothing });
  }
  assert.deepEqual(seen.usage, {});
  context.countUsage({ bytesRead: 1.6, peakMemoryBytes: 0 });
  assert.deepEqual(seen.usage, { bytesRead: 2, peakMemoryBytes: 0 });
});

test('each call has its own before-images', () => {
  const [one, other] = [open(), open()];
  const change: Change = { path: '/workspace/a', before: { kind: 'absent' }, after: { kind: 'folder', mode: 0o755 } };
  one.context.noteChange(change);
  assert.deepEqual(one.changes, [change]);
  assert.deepEqual(other.changes, []);
});

test('a tool knows what a step of its call would name, and how deep it is', () => {
  const facts = { ...callOf(), ...argumentsOf(), ...judgedAs(allow), session: sessionOf(), tool: toolOf() };
  const call = { ...facts, traceId: 'ab'.repeat(16), lease: leaseOf(), membership: {}, mode: 'NORMAL' as const };
  const parentIn = (step?: Chained['step']) =>
    createToolContexts(contextParts)({ ...call, step }, { signal: still, cancellation: still }).context.asParent;
  const { callId, door, source, taskId, correlationId } = call;
  const own = { callId, sessionId: sessionOf().id, traceId: call.traceId, door, source, taskId, correlationId };
  assert.deepEqual(parentIn(), { ...own, depth: 0 });
  assert.deepEqual(parentIn({ id: 'read', parent: parentOf({ depth: 2 }) }), { ...own, depth: 3 });
});
