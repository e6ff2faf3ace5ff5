import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import type { Reservation, WithinLimits } from '../call/call.ts';
import type { Refusal } from '../call/refusal.ts';
import type { Session } from '../call/session.ts';
import type { AnyTool } from '../call/tool.ts';
import type { Limits, Verdict } from '../call/verdict.ts';
import { budgetSpent, checkLimits, rateLimited } from './check-limits.ts';
import type { SpaceGauge } from './check-limits.ts';
import {
  allow,
  askFirst,
  assertPassed,
  assertRefused,
  judgedAs,
  leaseOf,
  limits,
  nothingSpent,
  rulesOf,
  sessionOf,
  toolOf,
  runStage,
} from './facts.test-kit.ts';
import { createTestSession, openTestStore } from './store.test-kit.ts';
import { ownText } from '../call/redacted.ts';

const minuteMs = 60_000;
const plenty: SpaceGauge = { isLow: () => false };
const low: SpaceGauge = { isLow: () => true };
const empty = { readSession: () => undefined, usedOf: () => Promise.resolve({ used: 0, resetsInMs: 0 }) };
const untouched = { readSession: () => assert.fail('looked'), usedOf: () => assert.fail('looked') };
const clock = { nowMs: Date.now };

const rates: Limits['rates'] = [
  {
    tools: ['files.read'],
    limits: [
      { windowMs: minuteMs, calls: 30 },
      { windowMs: 60 * minuteMs, calls: 500 },
    ],
  },
  { tools: ['files.*'], limits: [{ windowMs: minuteMs, calls: 7 }] },
];

interface Asked {
  readonly tool?: AnyTool;
  readonly verdict?: Verdict;
  readonly session?: Session;
  readonly reused?: { readonly output: null; readonly callId: string };
}

function check(
  store: Parameters<typeof checkLimits>[0],
  space: SpaceGauge,
  asked: Asked,
): Promise<WithinLimits | Refusal> {
  const { tool = toolOf(), verdict = allow, session = sessionOf(), ...more } = asked;
  const judged = judgedAs(verdict, rulesOf({ limits: { ...limits, rates } }));
  const facts = { session, tool, membership: {}, mode: 'NORMAL' as const, ...judged, ...more };
  return Promise.resolve(runStage(checkLimits(store, space), facts, clock) as Promise<WithinLimits | Refusal>);
}

async function reservationsOf(asked: Asked): Promise<readonly Reservation[]> {
  return assertPassed(await check(untouched, plenty, asked)).reservations;
}

test('each window of the first rate that names the tool becomes one count, by tool and agent', async () => {
  assert.deepEqual(await reservationsOf({ tool: toolOf({ name: 'files.read' }) }), [
    { key: 'files.read ada', windowMs: minuteMs, limit: 30, rule: 'rate-limit-60s' },
    { key: 'files.read ada', windowMs: 60 * minuteMs, limit: 500, rule: 'rate-limit-3600s' },
  ]);
  assert.deepEqual(
    (await reservationsOf({ tool: toolOf({ name: 'files.list' }), session: sessionOf({ agent: 'bob' }) })).map(
      ({ key }) => key,
    ),
    ['files.list bob'],
  );
  assert.deepEqual(await reservationsOf({ tool: toolOf({ name: 'git.diff' }) }), []);
});

test('the limit of a definition counts besides those of the rules', async () => {
  assert.deepEqual(await reservationsOf({ tool: toolOf({ name: 'files.list', rateLimitPerHour: 3 }) }), [
    { key: 'files.list ada', windowMs: minuteMs, limit: 7, rule: 'rate-limit-60s' },
    { key: 'definition files.list ada', windowMs: 60 * minuteMs, limit: 3, rule: 'rate-limit-of-the-tool' },
  ]);
});

test('a result that is only handed out again costs no rate, not even on a full disk', async () => {
  const reused = { output: null, callId: randomUUIDv7() };
  const tool = toolOf({ name: 'files.read', mutates: true });
  assert.deepEqual(assertPassed(await check(untouched, low, { tool, reused, verdict: askFirst })).reservations, []);
});

test('when the disk is nearly full, calls that change something stop and reading goes on', async () => {
  assertRefused(await check(untouched, low, { tool: toolOf({ mutates: true }) }), {
    code: 'DISK_NEARLY_FULL',
    rule: 'disk-space',
    remedy: 'Calls that only read still work.',
  });
  assertPassed(await check(untouched, low, { tool: toolOf({ mutates: false }) }));
  assertPassed(await check(untouched, plenty, { tool: toolOf({ mutates: true }) }));
});

test('nobody is asked about a call whose session has spent its budget', async () => {
  requirement('PERM-4');
  const spent = sessionOf({ budget: { calls: 5 }, spent: { ...nothingSpent, calls: 5 } });
  const answer = await check({ ...empty, readSession: () => Promise.resolve(spent) }, plenty, { verdict: askFirst });
  const refusal = assertRefused(answer, {
    code: 'BUDGET_EXCEEDED',
    rule: 'budget',
    remedy: 'Ask the operator for a new session with a larger budget. A new lease does not help.',
  });
  assert.equal(refusal.message, 'The budget of the session is spent: 5 of 5 calls.');
  const nearly = sessionOf({ budget: { calls: 5 }, spent: { ...nothingSpent, calls: 4 } });
  assertPassed(await check({ ...empty, readSession: () => Promise.resolve(nearly) }, plenty, { verdict: askFirst }));
});

test('time, tokens and cost are budgets like calls, of the session and of the lease', async () => {
  requirement('PERM-2', 'PERM-4');
  for (const kind of ['calls', 'activeMs', 'tokens', 'costMicros'] as const) {
    for (const [used, refuses] of [
      [4, false],
      [5, true],
      [6, true],
    ] as const) {
      const account = { budget: { [kind]: 5 }, spent: { ...nothingSpent, [kind]: used } };
      for (const session of [sessionOf(account), sessionOf({ lease: leaseOf(account) })]) {
        const answer = await check({ ...empty, readSession: () => Promise.resolve(session) }, plenty, {
          verdict: askFirst,
        });
        assert.equal('code' in answer && answer.code === 'BUDGET_EXCEEDED', refuses, `${kind} ${used}`);
      }
    }
  }
});

test('nobody is asked about a call whose window is full', async (t) => {
  const store = await openTestStore(t);
  const session = await createTestSession(store);
  const tool = toolOf({ name: 'notes.send', rateLimitPerHour: 1 });
  const asked = { tool, session, verdict: askFirst };
  const { reservations } = assertPassed(await check(store, plenty, asked));
  const intent = { kind: 'intent', result: 'none', timeMs: 1, callId: randomUUIDv7(), payload: ownText('{}') } as const;
  assert.ok(
    (
      await store.admit({
        sessionId: session.id,
        leaseId: session.lease.id,
        basedOn: Number.MAX_SAFE_INTEGER,
        tool: 'files.read',
        intent,
        reservations,
      })
    ).admitted,
  );
  const refusal = (await check(store, plenty, asked)) as Refusal;
  assert.equal(refusal.code, 'RATE_LIMITED');
  assert.equal(refusal.rule.id, 'rate-limit-of-the-tool');
  const { retryAfterMs = 0 } = refusal;
  assert.ok(retryAfterMs > 0 && retryAfterMs <= 60 * minuteMs);
  assert.equal(refusal.remedy, `Try again in ${Math.ceil(retryAfterMs / 1000)} s.`);
});

test('the refusals say what is spent and when to come back', async () => {
  const rate = assertRefused(rateLimited({ rule: 'rate-limit-60s', limit: 20, windowMs: 60_000 }, 1), {
    code: 'RATE_LIMITED',
    rule: 'rate-limit-60s',
    remedy: 'Try again in 1 s.',
  });
  assert.equal(rate.retryAfterMs, 1);
  assert.equal(rate.message, 'All 20 calls within a minute are used.');
  const { message, remedy } = budgetSpent({ of: 'lease', kind: 'activeMs', used: 12_345, limit: 10_000 });
  assert.equal(message, 'The budget of the lease is spent: 12.345 of 10 s in which calls ran.');
  assert.match(remedy ?? '', /new lease with a larger budget/);
  const cost = budgetSpent({ of: 'session', kind: 'costMicros', used: 1_500_000, limit: 1_000_000 });
  assert.equal(cost.message, 'The budget of the session is spent: 1.5 of 1 in cost.');
});
