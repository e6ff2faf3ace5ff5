import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { test } from 'node:test';
import { decodeLeaf } from '../../packages/log/src/leaf.ts';
import type { Charge, Misconduct, NewLease, NewSession, Store } from '../../packages/gateway/src/storage/stores.ts';
import { requirement } from '../requirement.ts';
import { admissionFor, eventNamed, outcomeFor } from './entries.ts';

/** The store that the suite has open. `store` is asked each time, because `reopen` puts another in its place. */
export interface OpenStore {
  readonly store: () => Store;
  readonly reopen: () => Promise<void>;
  readonly newSession: (more?: Partial<NewSession>) => Promise<NewSession>;
}

/** What every store must do about leases, spending and quarantine. */
export function testLeases({ store, reopen, newSession }: OpenStore): void {
  const admit = (session: NewSession, lease: NewLease = session.lease) =>
    store().admit({ ...admissionFor(session), leaseId: lease.id });
  const spend = async (session: NewSession, more: Partial<Charge>): Promise<void> => {
    const admission = admissionFor(session);
    assert.ok((await store().admit(admission)).admitted);
    const owed = { sessionId: session.id, leaseId: session.lease.id, activeMs: 0, tokens: 0, costMicros: 0 };
    await store().settle({ outcome: outcomeFor(admission), charge: { ...owed, ...more } });
  };
  const misbehave = (session: NewSession, atMs: number, more: Partial<Misconduct> = {}) => {
    const misconduct = { sessionId: session.id, weight: 1, limit: 3, windowMs: 1000, ...more };
    return store().append({ ...eventNamed('misconduct'), timeMs: atMs }, misconduct);
  };
  const statusOf = (session: NewSession) => store().findSession(session.id)?.status;

  test('a lease keeps all that it was granted with', async () => {
    const lease: NewLease = {
      id: randomUUIDv7(),
      tools: ['files.*'],
      paths: ['/work'],
      hosts: [],
      commands: ['git'],
      gitOperations: ['DIFF'],
      providers: ['local'],
      models: ['small-*'],
      expiresAtMs: Date.now() + 60_000,
      budget: { calls: 1, activeMs: 2, tokens: 3, costMicros: 4 },
    };
    const session = await newSession({ lease });
    await reopen();
    const spent = { calls: 0, activeMs: 0, tokens: 0, costMicros: 0 };
    assert.deepEqual((await store().readSession(session.id))?.lease, {
      ...lease,
      grantedAtMs: session.createdAtMs,
      spent,
    });
  });

  test('a new lease takes the place of the former, which nothing brings back', async () => {
    requirement('PERM-2');
    const session = await newSession();
    const [first, second] = [session.lease, leaseNamed()];
    const nowMs = session.createdAtMs + 5;
    assert.equal(await store().grantLease(session.id, second, nowMs), true);
    for (const found of [
      await store().readSession(session.id),
      store().findSession(session.id),
      store().findSessionByToken(session.tokenSha256),
    ]) {
      assert.equal(found?.lease.id, second.id);
    }
    await reopen();
    assert.deepEqual(
      (await store().listLeases(session.id)).map(({ id, grantedAtMs, endedAtMs }) => ({ id, grantedAtMs, endedAtMs })),
      [
        { id: first.id, grantedAtMs: session.createdAtMs, endedAtMs: nowMs },
        { id: second.id, grantedAtMs: nowMs, endedAtMs: undefined },
      ],
    );
    assert.deepEqual(await admit(session, first), { admitted: false, because: 'lease' });
    assert.ok((await admit(session, second)).admitted);
    await assert.rejects(store().grantLease(session.id, first, nowMs + 1), 'an id is used once');
    assert.ok((await admit(session, second)).admitted, 'and a grant that failed changed nothing');
  });

  test('a session without a lease in force, or with one that has expired, is not admitted', async () => {
    requirement('PERM-2');
    const [revoked, expired, other] = [
      await newSession(),
      await newSession({ lease: { ...leaseNamed(), expiresAtMs: Date.now() - 1 } }),
      await newSession(),
    ];
    assert.equal(store().findSession(revoked.id)?.lease.endedAtMs, undefined);
    assert.equal(await store().revokeLease(revoked.id, 77), true);
    assert.equal(await store().revokeLease(revoked.id, 78), false);
    assert.equal(store().findSession(revoked.id)?.lease.endedAtMs, 77);
    assert.equal(store().findSessionByToken(revoked.tokenSha256)?.lease.endedAtMs, 77);
    await reopen();
    const sizeBefore = await store().logSize();
    const refused = { admitted: false, because: 'lease' };
    assert.deepEqual(await admit(revoked), refused);
    assert.deepEqual(await admit(expired), refused);
    assert.deepEqual(await admit(revoked, other.lease), refused, 'the lease of another session does not count');
    assert.deepEqual(await admit(revoked, leaseNamed()), refused);
    assert.equal(await store().logSize(), sizeBefore);
    assert.equal(await store().grantLease(revoked.id, leaseNamed(), 79), true, 'but a new one can be granted');
  });

  test('a session that is not active gets no lease', async () => {
    const session = await newSession();
    await store().endSession(session.id);
    assert.equal(await store().grantLease(session.id, leaseNamed(), Date.now()), false);
    assert.equal(await store().grantLease(randomUUIDv7(), leaseNamed(), Date.now()), false);
    assert.equal((await store().listLeases(session.id)).length, 1);
  });

  test('200 concurrent calls against a lease of 50: exactly 50 are admitted', async () => {
    requirement('PERM-2', 'PERM-4');
    const session = await newSession({ budget: { calls: 60 }, lease: { ...leaseNamed(), budget: { calls: 50 } } });
    const answers = await Promise.all(Array.from({ length: 200 }, () => admit(session)));
    assert.equal(answers.filter(({ admitted }) => admitted).length, 50);
    await reopen();
    assert.deepEqual(await admit(session), {
      ...{ admitted: false, because: 'budget' },
      spent: { of: 'lease', kind: 'calls', used: 50, limit: 50 },
    });
    assert.equal((await store().readSession(session.id))?.lease.spent.calls, 50);

    const next = leaseNamed();
    await store().grantLease(session.id, next, Date.now());
    const more = await Promise.all(Array.from({ length: 20 }, () => admit(session, next)));
    assert.equal(more.filter(({ admitted }) => admitted).length, 10, 'the session remembers what former leases spent');
  });

  test('charges add up on the session and on the lease, and survive a restart', async () => {
    requirement('PERM-4');
    const session = await newSession();
    await Promise.all([
      spend(session, { activeMs: 3, tokens: 5, costMicros: 7 }),
      spend(session, { activeMs: 30, tokens: 50, costMicros: 70 }),
    ]);
    await reopen();
    const spent = { calls: 2, activeMs: 33, tokens: 55, costMicros: 77 };
    assert.deepEqual((await store().readSession(session.id))?.spent, spent);
    assert.deepEqual((await store().readSession(session.id))?.lease.spent, spent);
  });

  for (const kind of ['activeMs', 'tokens', 'costMicros'] as const) {
    test(`a session or lease that has spent its ${kind} is not admitted any more`, async () => {
      requirement('PERM-4');
      const budget = { [kind]: 10 };
      for (const session of [await newSession({ budget }), await newSession({ lease: { ...leaseNamed(), budget } })]) {
        await spend(session, { [kind]: 9 });
        await spend(session, { [kind]: 9 });
        const of = session.budget === undefined ? 'lease' : 'session';
        const spent = { of, kind, used: 18, limit: 10 };
        assert.deepEqual(await admit(session), { admitted: false, because: 'budget', spent });
        assert.equal((await store().readSession(session.id))?.spent.calls, 2, 'a refused call is not charged');
      }
    });
  }

  test('misconduct adds up within its window and quarantines once, on record and for good', async () => {
    requirement('PERM-5');
    const session = await newSession();
    await misbehave(session, 10_000);
    await misbehave(session, 10_500);
    assert.equal(store().findSession(session.id)?.status, 'active');
    assert.equal(store().findSessionByToken(session.tokenSha256)?.status, 'active');
    const { index } = await misbehave(session, 10_999);
    assert.equal(store().findSession(session.id)?.status, 'quarantined');
    assert.equal(store().findSessionByToken(session.tokenSha256)?.status, 'quarantined');
    await misbehave(session, 10_999);
    await reopen();

    assert.equal(statusOf(session), 'quarantined');
    const [record, ...after] = await store().readRecords(index + 1, 10);
    assert.deepEqual(JSON.parse(record?.payload ?? ''), { event: 'session_quarantined', because_of: index });
    assert.equal(decodeLeaf(record?.leaf ?? new Uint8Array()).sessionId, session.id);
    assert.equal(after.length, 1, 'what came after is on record, but does not quarantine again');
    assert.deepEqual(await admit(session), { admitted: false, because: 'session' });
    assert.equal(await store().grantLease(session.id, leaseNamed(), Date.now()), false);
    assert.equal(await store().endSession(session.id), true);
  });

  test('misconduct counts anew after its window', async () => {
    requirement('PERM-5');
    const session = await newSession();
    for (const atMs of [10_000, 10_999, 11_000, 11_999, 12_000, 12_001]) await misbehave(session, atMs);
    assert.equal(statusOf(session), 'active');
    await reopen();
    await misbehave(session, 12_002);
    assert.equal(statusOf(session), 'quarantined', 'the count survives a restart');
  });

  test('misconduct at once counts in full, by its weight, and only against its own session', async () => {
    requirement('PERM-5');
    const [session, other] = [await newSession(), await newSession()];
    const weighing = { weight: 2, limit: 40 };
    const most = Array.from({ length: 19 }, () => misbehave(session, 10_000, weighing));
    await Promise.all(most);
    assert.equal(statusOf(session), 'active');
    await misbehave(session, 10_000, weighing);
    assert.equal(statusOf(session), 'quarantined');
    assert.equal(statusOf(other), 'active');
  });

  test('the outcome of a call can quarantine as well', async () => {
    requirement('PERM-5');
    const session = await newSession();
    const admission = admissionFor(session);
    await store().admit(admission);
    const misconduct = { sessionId: session.id, weight: 3, limit: 3, windowMs: 1000 };
    await store().settle({ outcome: outcomeFor(admission, 'error'), misconduct });
    assert.equal(store().findSession(session.id)?.status, 'quarantined');
  });

  test('no misconduct quarantines an operator', async () => {
    requirement('PERM-5');
    const session = await newSession({ principal: 'operator' });
    await misbehave(session, 10_000, { weight: 100 });
    assert.equal(statusOf(session), 'active');
  });
}

function leaseNamed(): NewLease {
  return { id: randomUUIDv7(), tools: ['files.*'] };
}
