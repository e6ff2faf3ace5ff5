import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import { loadRules } from '../policy/language/load-rules.ts';
import type { Rates } from '../call/verdict.ts';
import { limits } from './facts.test-kit.ts';
import { planReservations, ReservationPlans } from './plan-reservations.ts';
import type { LimitedCall } from './plan-reservations.ts';

const minuteMs = 60_000;
const perMinute = (tools: readonly string[], calls: number): Rates => [
  { tools, limits: [{ windowMs: minuteMs, calls }] },
];
const all = {
  ...limits,
  rates: perMinute(['*'], 100),
  teamRates: perMinute(['*'], 20),
  roleRates: new Map([['worker', perMinute(['files.*'], 5)]]),
  totalRates: [...perMinute(['files.*', 'git.*'], 300), ...perMinute(['*'], 1000)],
};
const unlimited = { maxRunning: 64 };

function plan(more: Partial<LimitedCall> = {}, ofMode: Parameters<typeof planReservations>[2] = unlimited) {
  const call: LimitedCall = {
    tool: { name: 'files.read', audience: 'everyone' },
    agent: 'ada',
    roles: [],
    mode: 'NORMAL',
    profile: 'personal',
    ...more,
  };
  return planReservations(call, all, ofMode).map(({ key, limit, rule }) => [key, limit, rule]);
}

const totals = [
  ['total files.* git.*', 300, 'rate-limit-of-all-60s'],
  ['total *', 1000, 'rate-limit-of-all-60s'],
];

test('the profile chooses the rates, and a role comes before both', () => {
  assert.deepEqual(plan(), [['files.read ada', 100, 'rate-limit-60s'], ...totals]);
  assert.deepEqual(plan({ profile: 'team' })[0], ['files.read ada', 20, 'rate-limit-60s']);
  assert.deepEqual(plan({ profile: 'team', roles: ['worker'] })[0], ['files.read ada', 5, 'rate-limit-60s']);
  assert.deepEqual(plan({ roles: ['manager'] })[0], ['files.read ada', 100, 'rate-limit-60s']);
});

test('totals are counted over everyone and all tools of their entry', () => {
  const [first, second] = [plan(), plan({ agent: 'bob', tool: { name: 'git.log', audience: 'everyone' } })];
  assert.deepEqual(first.slice(1), totals);
  assert.deepEqual(second.slice(1), totals);
  assert.deepEqual(plan({ tool: { name: 'shell.run', audience: 'everyone' } }).slice(1), [totals[1]]);
});

test('a mode limits everyone together, but not those who run the gate', () => {
  const ofMode = { maxRunning: 8, callsPerMinute: 120 };
  assert.deepEqual(plan({ mode: 'DEGRADED' }, ofMode).at(-1), ['mode DEGRADED', 120, 'mode-degraded-per-minute']);
  assert.deepEqual(plan({ tool: { name: 'mode.set', audience: 'operator' } }, ofMode), [
    ['mode.set ada', 100, 'rate-limit-60s'],
  ]);
});

test('the shipped limits of the profile team are these, and those of one person are far above them', () => {
  requirement('RATE-1');
  const folder = join(import.meta.dirname, '../../../../config/governance');
  const nowhere = '/nonexistent';
  const { limits: shipped } = loadRules({
    folder,
    home: join(nowhere, 'home'),
    workspace: join(nowhere, 'workspace'),
    userHome: nowhere,
    programFolder: join(nowhere, 'program'),
    environment: {},
  });
  const numbersOf = (name: string, profile: LimitedCall['profile']) =>
    planReservations(
      { tool: { name, audience: 'everyone' }, agent: 'ada', roles: [], mode: 'NORMAL', profile },
      shipped,
      {
        maxRunning: 64,
      },
    ).map(({ windowMs, limit }) => [windowMs / minuteMs, limit]);
  const expected: readonly (readonly [string, readonly number[]])[] = [
    ['files.read', [30, 500, 5000]],
    ['files.write', [10, 100, 500]],
    ['shell.run', [5, 50, 200]],
    ['git.status', [20, 200, 1000]],
  ];
  for (const [name, [minute, hour, day]] of expected) {
    assert.deepEqual(
      numbersOf(name, 'team'),
      [
        [1, minute],
        [60, hour],
        [1440, day],
      ],
      name,
    );
    for (const [at, [, limit = 0]] of numbersOf(name, 'personal').entries()) {
      assert.ok(limit >= 4 * ([minute, hour, day][at] ?? 0), name);
    }
  }
});

test('a rate that names a built-in tool by its alias counts for the tool, and not for one that took the name', () => {
  const named = {
    ...all,
    rates: [...perMinute(['read_file'], 7), ...all.rates],
    totalRates: perMinute(['read_file'], 9),
  };
  const limitsOf = (tool: Partial<LimitedCall['tool']>): number[] => {
    const definition = { name: 'files.read', aliases: ['read_file'], audience: 'everyone', ...tool } as const;
    const call = { tool: definition, agent: 'ada', roles: [], mode: 'NORMAL', profile: 'personal' } as const;
    return planReservations(call, named, unlimited).map(({ limit }) => limit);
  };
  assert.deepEqual(limitsOf({}), [7, 9]);
  assert.deepEqual(limitsOf({ origin: 'upstream' }), [100]);
  assert.deepEqual(limitsOf({ aliases: ['other'] }), [100]);
});

test('counts are remembered only while everything they follow from is the same', () => {
  const plans = new ReservationPlans();
  const call: LimitedCall = {
    tool: { name: 'files.read', audience: 'everyone' },
    agent: 'ada',
    roles: [],
    mode: 'NORMAL',
    profile: 'personal',
  };
  const first = plans.of(call, all, unlimited);
  assert.equal(plans.of({ ...call }, all, unlimited), first);
  const others: readonly Parameters<ReservationPlans['of']>[] = [
    [{ ...call, roles: ['worker'] }, all, unlimited],
    [{ ...call, agent: 'bob' }, all, unlimited],
    [{ ...call, profile: 'team' }, all, unlimited],
    [{ ...call, mode: 'ALERT' }, all, { maxRunning: 8, callsPerMinute: 3 }],
    // Another tool of the same name, as after an upgrade.
    [{ ...call, tool: { name: 'files.read', audience: 'everyone', rateLimitPerHour: 1 } }, all, unlimited],
    [{ ...call, tool: { name: 'files.read ada', audience: 'everyone' }, agent: '' }, all, unlimited],
    [call, { ...all, rates: perMinute(['*'], 1) }, unlimited],
  ];
  for (const changed of others) {
    plans.of(call, all, unlimited);
    assert.deepEqual(plans.of(...changed), planReservations(...changed), JSON.stringify(changed));
  }
  assert.deepEqual(plans.of(call, all, unlimited), first);
});
