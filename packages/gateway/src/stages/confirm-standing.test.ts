import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { test } from 'node:test';
import type { Confirmed } from '../call/call.ts';
import { requirement } from '../../../../test/requirement.ts';
import type { Refusal } from '../call/refusal.ts';
import type { Mode, Session } from '../call/session.ts';
import type { Aspect } from '../storage/stores.ts';
import { confirmStanding } from './confirm-standing.ts';
import {
  allow,
  assertRefused,
  clock,
  judgedAs,
  leaseOf,
  nowMs,
  rulesOf,
  sessionOf,
  runStage,
} from './facts.test-kit.ts';
import { changeTestMode, createTestSession, openTestStore } from './store.test-kit.ts';

const facts = {
  ...judgedAs(allow),
  session: sessionOf(),
  lease: leaseOf(),
  basedOn: 0,
  mode: 'NORMAL' as const,
  intentIndex: 0,
};

interface Now {
  readonly session?: Session | undefined;
  readonly mode?: Mode;
  readonly changed?: Aspect;
  readonly hash?: string;
}

function confirm(now: Now) {
  const session = 'session' in now ? now.session : facts.session;
  const store = {
    findSession: () => session,
    readMode: () => now.mode ?? 'NORMAL',
    changedSince: () => now.changed ?? (now.mode === undefined ? undefined : 'mode'),
  } as const;
  return runStage(
    confirmStanding(store, () => rulesOf({ hash: now.hash ?? facts.rules.hash })),
    facts,
    clock,
  );
}

const again = { code: 'STANDING_CHANGED', rule: 'standing', remedy: 'Send the call again.' } as const;
const newSession = 'Ask the operator for a new session.';

test('what still holds goes on', () => {
  assert.equal(typeof (confirm({}) as Confirmed).confirmedAtMs, 'number');
});

test('a change of mode stops the call, also to a mode that would have allowed it', () => {
  const refusal = assertRefused(confirm({ mode: 'ALERT' }), again);
  assert.equal(refusal.message, 'The mode changed from NORMAL to ALERT while the call was on its way.');
});

test('a change of the organisation stops the call', () => {
  const refusal = assertRefused(confirm({ changed: 'organisation' }), again);
  assert.equal(refusal.message, 'The organisation changed while the call was on its way.');
});

test('a change of rules stops the call', () => {
  const refusal = assertRefused(confirm({ hash: 'cd'.repeat(32) }), again);
  assert.equal(refusal.message, 'The rules changed while the call was on its way.');
});

test('a session that ended, expired or is gone stops the call', () => {
  const ended = { code: 'SESSION_ENDED', rule: 'session', remedy: newSession } as const;
  assertRefused(confirm({ session: sessionOf({ status: 'ended' }) }), ended);
  assertRefused(confirm({ session: undefined }), ended);
  assertRefused(confirm({ session: sessionOf({ expiresAtMs: nowMs }) }), { ...ended, code: 'SESSION_EXPIRED' });
});

test('a session that was put into quarantine stops the call', () => {
  requirement('PERM-5');
  const refusal = confirm({ session: sessionOf({ status: 'quarantined' }) });
  assert.ok('code' in refusal && refusal.code === 'SESSION_QUARANTINED');
});

test('a lease that was revoked, expired or replaced since the decision stops the call', () => {
  requirement('PERM-2');
  const over = { code: 'OUTSIDE_LEASE', rule: 'lease', remedy: 'Ask the operator for a new lease.' } as const;
  assertRefused(confirm({ session: sessionOf({ lease: leaseOf({ endedAtMs: nowMs }) }) }), over);
  assertRefused(confirm({ session: sessionOf({ lease: leaseOf({ expiresAtMs: nowMs }) }) }), over);
  const wider = leaseOf({ id: '01900000-0000-7000-8000-0000000000bb' });
  const refusal = assertRefused(confirm({ session: sessionOf({ lease: wider }) }), again);
  assert.equal(refusal.message, 'The lease changed while the call was on its way.');
});

test('what cannot be confirmed does not run', () => {
  requirement('PIPE-2');
  const store = {
    findSession: () => facts.session,
    readMode: () => 'NORMAL' as const,
    changedSince: () => undefined,
  };
  assert.throws(
    () =>
      runStage(
        confirmStanding(store, () => assert.fail('no rules')),
        facts,
        clock,
      ),
    /no rules/,
  );
});

test('what took longer than a second to confirm does not run', () => {
  const store = {
    findSession: () => facts.session,
    readMode: () => 'NORMAL' as const,
    changedSince: () => undefined,
  };
  const confirmIn = (ms: number) => {
    const readings = [0, ms].values();
    return runStage(
      confirmStanding(
        store,
        () => facts.rules,
        () => readings.next().value ?? assert.fail(),
      ),
      facts,
      clock,
    );
  };
  assert.partialDeepStrictEqual(confirmIn(1000), { confirmedAtMs: 1000 });
  const refusal = assertRefused(confirmIn(1001), again);
  assert.match(refusal.message, /within a second/);
});

test('what an operator does to the store is seen at once', async (t) => {
  const store = await openTestStore(t);
  const session = await createTestSession(store);
  const stage = confirmStanding(store, () => facts.rules);
  let basedOn = store.version();
  const run = () => runStage(stage, { ...facts, session, basedOn, lease: session.lease }, { nowMs: Date.now });
  assert.equal(typeof (run() as Confirmed).confirmedAtMs, 'number');
  await changeTestMode(store, 'LOCKDOWN');
  assertRefused(run(), again);
  // Also when it is as before: the call was judged in between.
  await changeTestMode(store, 'NORMAL');
  assertRefused(run(), again);
  basedOn = store.version();
  assert.equal(typeof (run() as Confirmed).confirmedAtMs, 'number');
  await store.grantLease(session.id, { id: randomUUIDv7(), tools: ['*'] }, Date.now());
  assertRefused(run(), again);
  await store.revokeLease(session.id, Date.now());
  assert.equal((run() as Refusal).code, 'OUTSIDE_LEASE');
  await store.endSession(session.id);
  assertRefused(run(), { code: 'SESSION_ENDED', rule: 'session', remedy: newSession });
});
