import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { personalAnomalies, teamAnomalies } from '../policy/language/read-anomalies.ts';
import { definitionNamed, factOf, KeptAnomalies, minuteMs, watching } from './anomalies.test-kit.ts';
import type { CallFact } from './call-fact.ts';

const sequence = (count: number, everyMs: number, fromMs = 0, more: Partial<CallFact> = {}) =>
  Array.from({ length: count }, (_, at) => factOf(fromMs + at * everyMs, more));

test('50 calls within five minutes are ordinary and the 51st is not, and one alert is for all that follow', async () => {
  const { watch, raised, note } = watching(teamAnomalies);
  note(...sequence(50, 1000));
  await watch.settle();
  assert.deepEqual(raised, []);
  note(...sequence(200, 1000, 50_000));
  await watch.settle();
  assert.deepEqual(raised, ['ada call_spike 50000']);
});

test('50 calls in each five minutes never alert, all day', async () => {
  const { watch, raised, note } = watching(teamAnomalies);
  note(...sequence(50 * 12 * 24, 6001));
  await watch.settle();
  assert.deepEqual(raised, []);
});

test('after a quiet time what begins is a new episode', async () => {
  const { watch, raised, note } = watching(teamAnomalies);
  note(...sequence(51, 100), ...sequence(51, 100, 9 * minuteMs), ...sequence(51, 100, 20 * minuteMs));
  await watch.settle();
  assert.deepEqual(raised, ['ada call_spike 5000', `ada call_spike ${20 * minuteMs + 5000}`]);
});

test('8 failures among the last 10 calls alert, 7 do not, and old failures begin no second episode', async () => {
  const { watch, raised, note } = watching(teamAnomalies);
  const failed = { failed: true, result: 'NOT_FOUND' } as const;
  const mixed = (fromMs: number, failures: number) =>
    sequence(10, 1000, fromMs).map((fact, at) => (at < 10 - failures ? fact : { ...fact, ...failed }));
  note(...mixed(0, 7), ...sequence(3, 1000, 10_000));
  await watch.settle();
  assert.deepEqual(raised, []);
  note(...mixed(20_000, 8));
  // Two hours later most of the last ten calls are still those.
  note(factOf(120 * minuteMs, failed), ...sequence(5, 1000, 121 * minuteMs));
  await watch.settle();
  assert.deepEqual(raised, ['ada repeated_failures 29000']);
  note(...mixed(130 * minuteMs, 9));
  await watch.settle();
  assert.equal(raised.length, 2);
});

test('tools that are not used together alert within the last five calls, in any order, and no further apart', async () => {
  const use = (names: readonly string[], fromMs: number) =>
    names.map((name, at) => factOf(fromMs + at, { tool: name, definition: definitionNamed(name) }));
  const [read, write, edit, remove, list] = ['files.read', 'files.write', 'files.edit', 'files.delete', 'files.list'];
  const { watch, raised, note } = watching(teamAnomalies);
  note(...use([read, write, list, list, list, remove, list, list, list, list], 0));
  await watch.settle();
  assert.deepEqual(raised, []);
  note(...use([remove, list, read, list, edit], 100));
  await watch.settle();
  assert.deepEqual(raised, ['ada suspicious_combination read-write-delete 104']);
  note(...use(['shell.run', 'permissions.grant'], 200));
  await watch.settle();
  assert.equal(raised[1], 'ada suspicious_combination grant-and-run 201');
});

test('a refused call counts under the name that was asked for, also one that no tool has', async () => {
  const policy = {
    ...personalAnomalies,
    combinations: [{ id: 'made-up', tools: [['steal_*'], ['send_away']], within: 5, respond: [] }],
  };
  const { watch, raised, note } = watching(policy);
  const asked = (tool: string, atMs: number) => factOf(atMs, { tool, failed: true, result: 'UNKNOWN_TOOL' });
  note(asked('steal_keys', 0), asked('send_away', 1));
  await watch.settle();
  assert.deepEqual(raised, ['ada suspicious_combination made-up 1']);
});

test('one attempt that cannot be a mistake alerts; those that can be alert when there are many', async () => {
  const { watch, raised, note } = watching(teamAnomalies);
  const outside = { sign: 'lease', result: 'OUTSIDE_LEASE' } as const;
  note(...sequence(4, 1000, 0, outside), ...sequence(4, 1000, 10 * minuteMs, outside));
  await watch.settle();
  assert.deepEqual(raised, []);
  note(factOf(10 * minuteMs + 4000, outside));
  note(factOf(20 * minuteMs, { agent: 'bob', sign: 'administration', result: 'UNKNOWN_TOOL' }));
  await watch.settle();
  assert.deepEqual(raised, [
    `ada permission_escalation ${10 * minuteMs + 4000}`,
    `bob permission_escalation administration ${20 * minuteMs}`,
  ]);
});

test('callers without a credential are counted together, and only for what they try', async () => {
  const { watch, raised, note } = watching(personalAnomalies);
  const unknown = {
    agent: '',
    sessionId: '',
    failed: true,
    result: 'UNAUTHENTICATED',
    sign: 'bad_credential',
  } as const;
  note(...sequence(2000, 100, 0, unknown));
  await watch.settle();
  assert.deepEqual(raised, [' permission_escalation 900']);
});

test('a restart in the middle of an episode does not alert again, however the daemon ended', async () => {
  const kept = new KeptAnomalies();
  const first = watching(teamAnomalies, kept);
  first.note(...sequence(60, 100));
  await first.watch.settle();
  await first.watch.noteProgress();
  // Killed 14 s later: what was seen since is not noted.
  first.note(...sequence(60, 200, 6000));
  await first.watch.settle();
  assert.equal(first.raised.length, 1);
  const second = watching(teamAnomalies, kept);
  second.world.nowMs = 20_000;
  await second.watch.start();
  second.note(...sequence(60, 100, 9 * minuteMs + 50_000));
  await second.watch.settle();
  assert.deepEqual(second.raised, []);
  assert.equal(kept.all.length, 1);
  second.note(...sequence(60, 100, 40 * minuteMs));
  await second.watch.close();
  assert.equal(second.raised.length, 1);
  assert.equal(kept.all.length, 2);
  assert.ok((kept.all[0]?.sightings ?? 0) >= 10, 'how the first went on is noted');
});

test('a clock that is set back makes no spike and hides none', async () => {
  const { watch, raised, note } = watching(teamAnomalies);
  note(...sequence(60, 10_000).map((fact, at) => ({ ...fact, atMs: at < 30 ? 3_600_000 : 0 })));
  await watch.settle();
  assert.deepEqual(raised, []);
  note(...sequence(51, 100, 700_000).map((fact) => ({ ...fact, atMs: 0 })));
  await watch.settle();
  assert.deepEqual(raised, ['ada call_spike 0']);
});

test('an agent keeps no memory with the names it makes up, and many agents push out none that is busy', async () => {
  const { watch, raised, note } = watching(teamAnomalies);
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let at = 0; at < 200_000; at++) {
    note(factOf(at * 7000, { tool: `made-up-${at}-${'x'.repeat(200)}`, failed: false, result: 'UNKNOWN_TOOL' }));
    if (at % 1000 === 0) await watch.settle();
  }
  await watch.settle();
  collect();
  const grownMb = (process.memoryUsage().heapUsed - before) / 1024 / 1024;
  assert.ok(grownMb < 30, `${Math.round(grownMb)} MB`);
  // One busy agent among 20,000 that each call once: more than are remembered.
  const startMs = 200_000 * 7000;
  for (let at = 0; at < 20_000; at++) {
    note(factOf(startMs + at, { agent: `agent-${at}` }));
    if (at % 300 === 0) note(factOf(startMs + at, { agent: 'busy' }));
  }
  await watch.settle();
  assert.deepEqual(raised.length, 1, raised.slice(0, 3).join());
  assert.match(raised[0] ?? '', /^busy call_spike/);
});

test('what may be a mistake does not hide what cannot be, and each of those alerts by itself', async () => {
  const { watch, raised, note } = watching(teamAnomalies);
  const outside = { sign: 'lease', result: 'OUTSIDE_LEASE' } as const;
  note(...sequence(20, 60_000, 0, outside));
  note(factOf(20 * minuteMs, { sign: 'other_token', result: 'CONFIRM_TOKEN_TRACE' }));
  note(factOf(21 * minuteMs, { sign: 'other_token', result: 'CONFIRM_TOKEN_TRACE' }));
  note(factOf(22 * minuteMs, { sign: 'administration', result: 'UNKNOWN_TOOL' }));
  await watch.settle();
  assert.deepEqual(
    raised.map((each) => each.split(' ').slice(1, -1).join(' ')),
    ['permission_escalation', 'permission_escalation other_token', 'permission_escalation administration'],
  );
});
