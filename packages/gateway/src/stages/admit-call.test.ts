import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { test } from 'node:test';
import type { Json } from '@sallyport/contract';
import { requirement } from '../../../../test/requirement.ts';
import { Redactor } from '../redaction/redact.ts';
import type { Begun, Consent, Consented, Intended, Reservation, ReuseChecked } from '../call/call.ts';
import { Fault } from '../call/fault.ts';
import type { Refusal } from '../call/refusal.ts';
import type { Session } from '../call/session.ts';
import type { Store } from '../storage/stores.ts';
import { admitCall } from './admit-call.ts';
import {
  allow,
  argumentsOf,
  assertPassed,
  assertRefused,
  callOf,
  judgedAs,
  sessionOf,
  toolOf,
  runStage,
} from './facts.test-kit.ts';
import { fingerprintOf } from './reuse-result.ts';
import { createTestSession, openTestStore, readLog } from './store.test-kit.ts';

type Answer = Intended | Refusal;
type More = Partial<Begun> & ReuseChecked & Consented & { readonly reservations?: readonly Reservation[] };

const redactor = new Redactor(['hunter2-secret']);
const clock = { nowMs: Date.now };

function factsOf(session: Session, more: More = {}) {
  const { reservations = [], ...begun } = more;
  return {
    ...callOf({ callId: randomUUIDv7() }),
    ...argumentsOf({ path: 'a', password: 'x1', note: 'it is hunter2-secret' }),
    ...judgedAs(allow),
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
    rawArguments: {},
    mode: 'NORMAL' as const,
    tool: toolOf(),
    releaseTurn: () => undefined,
    session,
    basedOn: Number.MAX_SAFE_INTEGER,
    lease: session.lease,
    reservations,
    ...begun,
  };
}

function admit(store: Pick<Store, 'admit'>, session: Session, more: More = {}): Promise<Answer> {
  return Promise.resolve(
    runStage(admitCall(store, redactor, { note: () => undefined }), factsOf(session, more), clock) as Promise<Answer>,
  );
}

test('an admitted call has a durable intent that says who wanted what, and why it was let through', async (t) => {
  requirement('AUD-1', 'AUD-4');
  const store = await openTestStore(t);
  const session = await createTestSession(store);
  const callId = randomUUIDv7();
  const consent = { by: 'olga', how: 'own-call-confirmed', atMs: 1, binding: 'b'.repeat(64) } as const;
  const { intentIndex } = assertPassed(await admit(store, session, { callId, toolName: 'note_read', consent }));
  const record = (await readLog(store))[intentIndex];
  assert.equal(record?.leaf.kind, 'intent');
  assert.equal(record.leaf.callId, callId);
  assert.equal(record.leaf.sessionId, session.id);
  assert.equal(record.leaf.rulesHash, 'ab'.repeat(32));
  assert.deepEqual(record.payload, {
    request_id: 'r-1',
    trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
    door: 'agent-socket',
    agent: 'ada',
    principal: 'agent',
    workspace: '/workspace',
    tool: 'notes.read',
    tool_as_named: 'note_read',
    version: '1.0.0',
    arguments_sha256: factsOf(session).arguments.sha256,
    arguments: { note: 'it is [redacted]', password: '[redacted]', path: 'a' },
    mode: 'NORMAL',
    decision: { effect: 'allow', rule_id: 'allow-notes', reason: 'Notes are open.' },
    consent: { by: 'olga', how: 'own-call-confirmed', at_ms: 1, binding: 'b'.repeat(64) },
  });
  assert.deepEqual(
    (await store.listOpenIntents()).map((intent) => intent.callId),
    [callId],
  );
});

test('an admitted call is charged once, and a refused one is not', async (t) => {
  requirement('PERM-4');
  const store = await openTestStore(t);
  const session = await createTestSession(store, { budget: { calls: 1 } });
  assertPassed(await admit(store, session));
  const refusal = assertRefused(await admit(store, session), {
    code: 'BUDGET_EXCEEDED',
    rule: 'budget',
    remedy: 'Ask the operator for a new session with a larger budget. A new lease does not help.',
  });
  assert.equal(refusal.message, 'The budget of the session is spent: 1 of 1 call.');
  assert.equal((await readLog(store)).length, 1);
});

test('a full window refuses and says when to come back', async (t) => {
  const store = await openTestStore(t);
  const session = await createTestSession(store);
  const reservations = [{ key: 'notes.read ada', windowMs: 3_600_000, limit: 2, rule: 'rate-limit-3600s' }];
  const answers = await Promise.all([1, 2, 3].map(() => admit(store, session, { reservations })));
  const refused = answers.filter((answer) => 'code' in answer);
  assert.equal(refused.length, 1);
  const { retryAfterMs = 0 } = refused[0] as Refusal;
  assert.ok(retryAfterMs > 0 && retryAfterMs <= 3_600_000);
  assertRefused(refused[0] as Refusal, {
    code: 'RATE_LIMITED',
    rule: 'rate-limit-3600s',
    remedy: `Try again in ${Math.ceil(retryAfterMs / 1000)} s.`,
  });
});

test('a session that ended or expired on the way is refused', async (t) => {
  const store = await openTestStore(t);
  const ended = await createTestSession(store);
  await store.endSession(ended.id);
  const expired = await createTestSession(store, { expiresAtMs: Date.now() - 1 });
  for (const session of [ended, expired, sessionOf()]) {
    assertRefused(await admit(store, session), {
      code: 'SESSION_ENDED',
      rule: 'session',
      remedy: 'Ask the operator for a new session.',
    });
  }
  assert.equal((await readLog(store)).length, 0);
});

test('a lease that was revoked, replaced or has expired on the way is refused, and nothing is charged', async (t) => {
  requirement('PERM-2');
  const store = await openTestStore(t);
  const revoked = await createTestSession(store);
  await store.revokeLease(revoked.id, Date.now());
  const replaced = await createTestSession(store);
  await store.grantLease(replaced.id, { id: randomUUIDv7(), tools: ['*'] }, Date.now());
  const expired = await createTestSession(store, {
    lease: { id: randomUUIDv7(), tools: ['*'], expiresAtMs: Date.now() - 1 },
  });
  for (const session of [revoked, replaced, expired]) {
    assertRefused(await admit(store, session), {
      code: 'OUTSIDE_LEASE',
      rule: 'lease',
      remedy: 'Ask the operator for a new lease.',
    });
    assert.equal(store.findSession(session.id)?.spent.calls, 0);
  }
  assert.equal((await readLog(store)).length, 0);
});

test('the budget of the lease counts besides that of the session', async (t) => {
  requirement('PERM-2', 'PERM-4');
  const store = await openTestStore(t);
  const lease = { id: randomUUIDv7(), tools: ['*'], budget: { calls: 1 } };
  const session = await createTestSession(store, { budget: { calls: 10 }, lease });
  assertPassed(await admit(store, session));
  assert.equal(((await admit(store, session)) as Refusal).code, 'BUDGET_EXCEEDED');
});

test('a dedupe key is claimed for this tool and these arguments, for one hour', async (t) => {
  requirement('PIPE-6');
  const store = await openTestStore(t);
  const session = await createTestSession(store);
  const beforeMs = Date.now();
  assertPassed(await admit(store, session, { dedupeKey: 'k' }));
  const entry = await store.findDedupe(session.id, 'k', Date.now());
  assert.equal(entry?.argumentsSha256, fingerprintOf(factsOf(session)));
  const keptMs = entry.expiresAtMs - beforeMs;
  assert.ok(keptMs >= 3_600_000 && keptMs < 3_700_000);
  assertRefused(await admit(store, session, { dedupeKey: 'k' }), {
    code: 'DEDUPE_CONFLICT',
    rule: 'dedupe',
    remedy: 'Use a new key.',
  });
});

test('a result that is handed out again is on record with the call it came from, and claims nothing', async (t) => {
  const store = await openTestStore(t);
  const session = await createTestSession(store);
  const reused: { output: Json; callId: string } = { output: null, callId: randomUUIDv7() };
  const { intentIndex } = assertPassed(await admit(store, session, { dedupeKey: 'k', reused }));
  assert.equal((await readLog(store))[intentIndex]?.payload['reused_from'], reused.callId);
  assert.equal(await store.findDedupe(session.id, 'k', Date.now()), undefined);
});

test('when the log cannot be written the call does not go on', async () => {
  requirement('AUD-2');
  const sealed = { admit: () => Promise.reject(new Fault('SEALED', 'the disk is full')) };
  await assert.rejects(admit(sealed, sessionOf()), { code: 'SEALED' });
});

test('of 64 calls that saw the same approval and the same five further uses, six run, each recorded with what it used', async (t) => {
  requirement('APPR-9');
  const store = await openTestStore(t);
  const session = await createTestSession(store);
  const nowMs = Date.now();
  await store.grantStanding({
    ...{ id: 'standing', sessionId: session.id, agent: 'ada', tool: 'notes.read', risk: 'medium', rulesHash: 'r' },
    ...{ mode: 'NORMAL', grantedBy: 'olga', grantedAtMs: nowMs, expiresAtMs: nowMs + 60_000, usesLeft: 5 },
  });
  const seen = { by: 'olga', atMs: nowMs, binding: 'b' } as const;
  const standing: Consent = { ...seen, how: 'standing-approval', use: { kind: 'standing', standingId: 'standing' } };
  const use = { kind: 'token', tokenId: 'once', expiresAtMs: nowMs + 60_000, reusable: false } as const;
  const consent: Consent = { ...seen, how: 'approved', use, otherwise: standing };
  const answers = await Promise.all(Array.from({ length: 64 }, () => admit(store, session, { consent })));
  const used = answers.map((answer) =>
    'consent' in answer ? (answer.consent as Consent).how : (answer as Refusal).code,
  );
  const count = (what: string): number => used.filter((each) => each === what).length;
  assert.deepEqual([count('approved'), count('standing-approval'), count('APPROVAL_USED')], [1, 5, 58]);
});
