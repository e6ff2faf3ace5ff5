import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import type { Mode, Session } from '../model/session.ts';
import { confirmStanding } from './confirm-standing.ts';
import { allow, assertRefused, clock, judgedAs, nowMs, rulesOf, sessionOf } from './facts.test-kit.ts';
import { createTestSession, openTestStore } from './store.test-kit.ts';

const facts = { ...judgedAs(allow), session: sessionOf(), mode: 'NORMAL' as const, intentIndex: 0 };

function confirm(now: { readonly session?: Session | undefined; readonly mode?: Mode; readonly hash?: string }) {
  const session = 'session' in now ? now.session : facts.session;
  const store = { findSession: () => session, readMode: () => now.mode ?? 'NORMAL' };
  return confirmStanding(store, () => rulesOf({ hash: now.hash ?? facts.rules.hash })).run(facts, clock);
}

const again = { code: 'STANDING_CHANGED', rule: 'standing', remedy: 'Send the call again.' } as const;
const newSession = 'Ask the operator for a new session.';

test('what still holds goes on', () => {
  assert.deepEqual(confirm({}), { standingConfirmed: true });
});

test('a change of mode stops the call, also to a mode that would have allowed it', () => {
  const refusal = assertRefused(confirm({ mode: 'ALERT' }), again);
  assert.equal(refusal.message, 'The mode changed from NORMAL to ALERT while the call was on its way.');
});

test('a change of rules stops the call', () => {
  const refusal = assertRefused(confirm({ hash: 'cd'.repeat(32) }), again);
  assert.equal(refusal.message, 'The rules changed while the call was on its way.');
});

test('a session that ended, expired or is gone stops the call', () => {
  requirement('PERM-1');
  const ended = { code: 'SESSION_ENDED', rule: 'session', remedy: newSession } as const;
  assertRefused(confirm({ session: sessionOf({ status: 'ended' }) }), ended);
  assertRefused(confirm({ session: undefined }), ended);
  assertRefused(confirm({ session: sessionOf({ expiresAtMs: nowMs }) }), { ...ended, code: 'SESSION_EXPIRED' });
});

test('what cannot be confirmed does not run', () => {
  requirement('PIPE-2');
  const store = { findSession: () => facts.session, readMode: () => 'NORMAL' as const };
  assert.throws(() => confirmStanding(store, () => assert.fail('no rules')).run(facts, clock), /no rules/);
});

test('what an operator does to the store is seen at once', async (t) => {
  const store = await openTestStore(t);
  const session = await createTestSession(store);
  const stage = confirmStanding(store, () => facts.rules);
  const run = () => stage.run({ ...facts, session }, { nowMs: Date.now });
  assert.deepEqual(run(), { standingConfirmed: true });
  await store.setMode('LOCKDOWN');
  assertRefused(run(), again);
  await store.setMode('NORMAL');
  await store.endSession(session.id);
  assertRefused(run(), { code: 'SESSION_ENDED', rule: 'session', remedy: newSession });
});
