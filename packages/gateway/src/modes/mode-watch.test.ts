import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import type { Measure, ModePolicy, Transition } from '../policy/judge/mode-policy.ts';
import { defaultModePolicy } from '../policy/judge/mode-policy.ts';
import type { Mode } from '../call/session.ts';
import type { ModeChange } from '../storage/stores.ts';
import { CallGauge } from './call-gauge.ts';
import type { CallSign } from './call-gauge.ts';
import type { MachineReading } from './machine-gauge.ts';
import { ModeAuthority } from './mode-authority.ts';
import { ModeWatch } from './mode-watch.ts';
import { ownText } from '../call/redacted.ts';

const minuteMs = 60_000;

function transition(from: Mode, to: Mode, when: { [Name in Measure]?: number }, holdMs = 0): Transition {
  return { from, to, when, holdMs };
}

/** A watch over a machine and calls that the test sets, with a clock of its own. */
function watching(transitions: readonly Transition[], mode: Mode = 'NORMAL') {
  const changes: ModeChange[] = [];
  const policy: ModePolicy = { ...defaultModePolicy, transitions };
  const world = { nowMs: 1_000_000, machine: {} as MachineReading, isTroubled: false };
  const authority = new ModeAuthority({
    readMode: () => changes[0]?.to ?? mode,
    changeMode: async (change) => changes.unshift(change) > 0,
    listModeChanges: async (limit) => changes.slice(0, limit),
  });
  const calls = new CallGauge();
  const watch = new ModeWatch({
    authority,
    policy: () => policy,
    calls,
    readMachine: () => world.machine,
    isTroubled: () => world.isTroubled,
    onFault: assert.ifError,
    steadyMs: () => world.nowMs,
    nowMs: () => world.nowMs,
  });
  const lookAfter = async (ms: number): Promise<Mode> => {
    world.nowMs += ms;
    await watch.look();
    return authority.current();
  };
  const violate = (sessionId: string, times: number): void => {
    for (let time = 0; time < times; time++) {
      calls.note({ sessionId, failed: false, violated: true, highRisk: false }, world.nowMs);
    }
  };
  return { world, authority, calls, changes, lookAfter, violate };
}

test('each measurement changes the mode when it passes its threshold, and its cause is said', async () => {
  requirement('MODE-3');
  const cases: readonly [Measure, number, MachineReading, string][] = [
    ['cpu_percent', 90, { cpuPercent: 90 }, 'cpu_percent is 90, at or above 90'],
    ['memory_percent', 95, { memoryPercent: 99 }, 'memory_percent is 99, at or above 95'],
    ['disk_free_mb', 512, { diskFreeMb: 511 }, 'disk_free_mb is 511, below 512'],
  ];
  for (const [measure, threshold, machine, cause] of cases) {
    const { world, lookAfter, changes } = watching([transition('NORMAL', 'DEGRADED', { [measure]: threshold })]);
    assert.equal(await lookAfter(1000), 'NORMAL', 'what is not measured calls for nothing');
    world.machine = machine;
    assert.equal(await lookAfter(1000), 'DEGRADED', measure);
    assert.equal(changes[0]?.cause, cause);
    assert.equal(changes[0]?.by, undefined);
  }
});

test('failures, violations and risky calls of several sessions change the mode as well', async () => {
  requirement('MODE-2', 'MODE-3');
  const calm = { failed: false, violated: false, highRisk: false };
  const cases: readonly [Measure, Omit<CallSign, 'sessionId'>][] = [
    ['error_percent', { ...calm, failed: true }],
    ['violations_per_minute', { ...calm, violated: true }],
    ['high_risk_per_minute', { ...calm, highRisk: true }],
  ];
  for (const [measure, sign] of cases) {
    const { world, calls, lookAfter, changes } = watching([transition('NORMAL', 'DEGRADED', { [measure]: 40 })]);
    const note = (sessionId: string, times: number): void => {
      for (let time = 0; time < times; time++) calls.note({ sessionId, ...sign }, world.nowMs);
    };
    note('one', 100);
    assert.equal(await lookAfter(1000), 'NORMAL', `${measure} of one session`);
    note('two', 40);
    assert.equal(await lookAfter(1000), 'DEGRADED', measure);
    assert.match(changes[0]?.cause ?? '', new RegExp(`^${measure} is (?:40|100), at or above 40$`));
  }
});

test('a measurement must last for the hold time without a break', async () => {
  requirement('MODE-2');
  const { world, lookAfter } = watching([transition('NORMAL', 'DEGRADED', { memory_percent: 95 }, 30_000)]);
  world.machine = { memoryPercent: 96 };
  assert.equal(await lookAfter(1000), 'NORMAL');
  assert.equal(await lookAfter(29_000), 'NORMAL');
  world.machine = { memoryPercent: 94 };
  assert.equal(await lookAfter(500), 'NORMAL');
  world.machine = { memoryPercent: 96 };
  assert.equal(await lookAfter(500), 'NORMAL');
  assert.equal(await lookAfter(29_999), 'NORMAL');
  assert.equal(await lookAfter(1), 'DEGRADED');
});

test('one session alone raises an alarm and nothing more; two can do more', async () => {
  requirement('MODE-2');
  const transitions = [
    transition('NORMAL', 'LOCKDOWN', { violations_per_minute: 50 }),
    transition('NORMAL', 'ALERT', { violations_per_minute: 50 }),
    transition('ALERT', 'LOCKDOWN', { violations_per_minute: 50 }),
  ];
  const { lookAfter, violate } = watching(transitions);
  violate('one', 5000);
  assert.equal(await lookAfter(1000), 'ALERT');
  violate('one', 5000);
  violate('two', 49);
  assert.equal(await lookAfter(1000), 'ALERT');
  violate('two', 1);
  assert.equal(await lookAfter(1000), 'LOCKDOWN');
});

test('errors of one session alone do not degrade the gate for the others', async () => {
  requirement('MODE-3');
  const { calls, world, lookAfter } = watching([transition('NORMAL', 'DEGRADED', { error_percent: 50 })]);
  const note = (sessionId: string, failed: boolean, times: number): void => {
    for (let time = 0; time < times; time++) {
      calls.note({ sessionId, failed, violated: false, highRisk: false }, world.nowMs);
    }
  };
  note('one', true, 500);
  note('two', false, 30);
  assert.equal(await lookAfter(1000), 'NORMAL');
  note('two', true, 31);
  assert.equal(await lookAfter(1000), 'DEGRADED');
});

test('what the gate did by itself it takes back once all is well below the thresholds, for minutes', async () => {
  const { world, lookAfter, changes } = watching([transition('NORMAL', 'ALERT', { cpu_percent: 90 })]);
  world.machine = { cpuPercent: 95 };
  assert.equal(await lookAfter(1000), 'ALERT');
  world.machine = { cpuPercent: 80 };
  assert.equal(await lookAfter(20 * minuteMs), 'ALERT', 'just below a threshold is not calm');
  assert.equal(await lookAfter(20 * minuteMs), 'ALERT');
  world.machine = { cpuPercent: 20 };
  assert.equal(await lookAfter(1000), 'ALERT');
  assert.equal(await lookAfter(5 * minuteMs - 1), 'ALERT');
  assert.equal(await lookAfter(1), 'NORMAL');
  assert.equal(changes.length, 2);
});

test('what a person decided stays until a person decides otherwise', async () => {
  const { authority, lookAfter } = watching([]);
  await authority.change({ to: 'ALERT', by: 'olga', cause: ownText('a hunch') });
  await lookAfter(1000);
  assert.equal(await lookAfter(60 * minuteMs), 'ALERT');
});

test('the gate never leaves LOCKDOWN and RECOVERY by itself, whatever the policy says', async () => {
  requirement('MODE-2');
  for (const mode of ['LOCKDOWN', 'RECOVERY'] as const) {
    const { world, lookAfter } = watching(
      [transition(mode, mode === 'LOCKDOWN' ? 'RECOVERY' : 'NORMAL', { cpu_percent: 1 })],
      mode,
    );
    world.machine = { cpuPercent: 100 };
    await lookAfter(1000);
    assert.equal(await lookAfter(60 * minuteMs), mode);
  }
});

test('violations are forgotten after a minute', async () => {
  const { lookAfter, violate } = watching([transition('NORMAL', 'ALERT', { violations_per_minute: 50 })]);
  violate('one', 49);
  await lookAfter(61_000);
  violate('one', 49);
  assert.equal(await lookAfter(1000), 'NORMAL');
  violate('one', 1);
  assert.equal(await lookAfter(1000), 'ALERT');
});

test('what an anomaly raised stays for as long as the anomaly goes on', async () => {
  const { authority, lookAfter, world } = watching([]);
  await authority.change({ to: 'ALERT', cause: ownText('an anomaly') });
  world.isTroubled = true;
  await lookAfter(1000);
  assert.equal(await lookAfter(60 * minuteMs), 'ALERT');
  world.isTroubled = false;
  await lookAfter(1000);
  assert.equal(await lookAfter(5 * minuteMs), 'NORMAL');
});
