import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { test } from 'node:test';
import type { ConsentUse, NewApproval, NewPlan, StandingApproval } from '../../packages/gateway/src/call/approval.ts';
import type { NewSession, Store } from '../../packages/gateway/src/storage/stores.ts';
import { requirement } from '../requirement.ts';
import { admissionFor } from './entries.ts';

interface Given {
  readonly store: () => Store;
  readonly reopen: () => Promise<void>;
  readonly newSession: (more?: Partial<NewSession>) => Promise<NewSession>;
}

const effectSha256 = 'ee'.repeat(32);

export function taskOf(session: NewSession, more: Partial<NewApproval> = {}): NewApproval {
  const createdAtMs = Date.now();
  return {
    id: randomUUIDv7(),
    sessionId: session.id,
    agent: session.agent,
    callId: randomUUIDv7(),
    traceId: '0'.repeat(32),
    requestId: 'r-1',
    tool: 'files.write',
    toolVersion: '1.0.0',
    binding: randomUUIDv7(),
    scopeSha256: 'aa'.repeat(32),
    effectSha256,
    title: 'Write a file.',
    effect: '+x',
    undoable: true,
    risk: 'high',
    ruleId: 'ask',
    reason: 'It writes.',
    rulesHash: 'bb'.repeat(32),
    approverRole: 'senior',
    createdAtMs,
    remindAtMs: createdAtMs + 180_000,
    expiresAtMs: createdAtMs + 300_000,
    ...more,
  };
}

export function planOf(session: NewSession, createdAtMs: number): NewPlan {
  const step = {
    tool: 'files.write',
    callSha256: 'c',
    shownArguments: '{}',
    title: '',
    effect: '',
    risk: 'high',
    reason: '',
  } as const;
  return {
    id: randomUUIDv7(),
    sessionId: session.id,
    agent: session.agent,
    traceId: '0'.repeat(32),
    summary: 'Tidy up.',
    steps: [step, step, step],
    approverRole: 'senior',
    rulesHash: 'bb'.repeat(32),
    mode: 'NORMAL',
    createdAtMs,
    expiresAtMs: createdAtMs + 300_000,
  };
}

/** What every store promises about people's decisions. */
export function testApprovals({ store, reopen, newSession }: Given): void {
  const decide = (taskId: string, approved: boolean, more: object = {}) =>
    store().decideApproval({ taskId, approved, by: 'olga', atMs: Date.now(), effectSha256, ...more });
  const admit = async (session: NewSession, consent: ConsentUse) =>
    (await store().admit({ ...admissionFor(session), consent })).admitted;

  test('one decision is one run, also under concurrency and after a restart', async () => {
    requirement('APPR-6');
    const session = await newSession();
    const { id, binding } = await store().openApproval(taskOf(session));
    const consent = { kind: 'task', taskId: id, binding } as const;
    assert.equal(await admit(session, consent), false);
    assert.equal((await decide(id, true))?.status, 'approved');
    assert.equal(await admit(session, { ...consent, binding: 'another' }), false);
    await reopen();
    const runs = await Promise.all(Array.from({ length: 20 }, () => admit(session, consent)));
    assert.equal(runs.filter(Boolean).length, 1);
    assert.equal((await store().findApproval(id))?.status, 'used');
  });

  test('a task is decided once, by the one who saw the effect that it shows, and in time', async () => {
    const session = await newSession();
    const { id } = await store().openApproval(taskOf(session));
    assert.equal(await decide(id, true, { effectSha256: 'other' }), undefined);
    assert.equal(await decide(id, true, { atMs: Date.now() + 300_001 }), undefined);
    const denied = await decide(id, false, { note: 'Not on a Friday.' });
    assert.deepEqual(
      [denied?.status, denied?.decidedBy, denied?.note, denied?.runsLeft],
      ['denied', 'olga', 'Not on a Friday.', 0],
    );
    assert.equal(await decide(id, true), undefined);
    assert.equal(await decide('unknown', true), undefined);
  });

  test('identical requests are one task, and each request is a run', async () => {
    requirement('APPR-9');
    const session = await newSession();
    const first = taskOf(session);
    const { id, binding } = await store().openApproval(first);
    for (const requestId of ['r-1', 'r-2', 'r-2', 'r-3']) {
      assert.equal((await store().openApproval({ ...first, id: randomUUIDv7(), requestId })).id, id);
    }
    assert.equal((await store().findApproval(id))?.wanted, 3);
    await decide(id, true, { runs: 3 });
    const consent = { kind: 'task', taskId: id, binding } as const;
    const runs = await Promise.all(Array.from({ length: 5 }, () => admit(session, consent)));
    assert.equal(runs.filter(Boolean).length, 3);
    const next = await store().openApproval({ ...first, id: randomUUIDv7() });
    assert.notEqual(next.id, id);
    assert.equal((await store().findApprovalByBinding(session.id, binding))?.id, next.id);
  });

  test('what waits of a session is counted up to a bound, and found by the effect that it shows', async () => {
    const [session, other] = [await newSession(), await newSession()];
    const like = { effectSha256: 'ab'.repeat(32) };
    const tasks = [taskOf(session, like), taskOf(session, like), taskOf(session), taskOf(other, like)];
    for (const task of tasks) await store().openApproval(task);
    const [first = '', second = ''] = tasks.map(({ id }) => id);
    const alike = async () =>
      (await store().listPendingLike(session.id, like.effectSha256)).map(({ id }) => id).toSorted();
    assert.deepEqual([await store().countPending(session.id, 9), await store().countPending(session.id, 2)], [3, 2]);
    assert.deepEqual(await alike(), [first, second].toSorted());
    assert.ok(await decide(first, false, like));
    assert.equal(await store().countPending(session.id, 9), 2);
    assert.deepEqual(await alike(), [second]);
  });

  test('what waits is read page after page from the oldest on, also where many came at the same time', async () => {
    const session = await newSession();
    const atMs = Date.now() + 1_000_000;
    const tasks = [0, 0, 0, 1, 2].map((later) => taskOf(session, { createdAtMs: atMs + later }));
    for (const task of tasks.toReversed()) await store().openApproval(task);
    const ours = new Set(tasks.map(({ id }) => id));
    const read = async (after: Pick<NewApproval, 'id' | 'createdAtMs'>, limit: number) =>
      (await store().listApprovalsAfter({ status: 'pending', after, limit })).map(({ id }) => id);
    const [first, second, third, fourth, last] = tasks.toSorted(
      (a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1),
    );
    assert.ok(first && second && third && fourth && last);
    assert.deepEqual(await read({ id: '', createdAtMs: atMs }, 2), [first.id, second.id]);
    assert.deepEqual(await read(second, 2), [third.id, fourth.id]);
    await decide(fourth.id, false);
    assert.deepEqual(await read(fourth, 9), [last.id]);
    const all = await store().listApprovalsAfter({ status: 'pending', limit: 20_000 });
    const times = all.map(({ createdAtMs }) => createdAtMs);
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    );
    assert.equal(all.filter(({ id }) => ours.has(id)).length, 4);
  });

  test('what nobody decides expires, after one reminder, however often the clock looks and the store restarts', async () => {
    requirement('APPR-5');
    const session = await newSession();
    const task = await store().openApproval(taskOf(session));
    assert.ok(((await store().nextApprovalDeadlineMs()) ?? 0) <= task.remindAtMs);
    const mine = async (nowMs: number) => {
      const { expired, reminders } = await store().ageApprovals(nowMs);
      return [expired, reminders].map((tasks) => tasks.filter(({ id }) => id === task.id).length);
    };
    assert.deepEqual(await mine(task.remindAtMs - 1), [0, 0]);
    assert.deepEqual(await mine(task.remindAtMs), [0, 1]);
    await reopen();
    assert.deepEqual(await mine(task.remindAtMs + 1), [0, 0]);
    assert.deepEqual(await mine(task.expiresAtMs), [1, 0]);
    assert.deepEqual(await mine(task.expiresAtMs + 1), [0, 0]);
    const { status, decidedBy } = (await store().findApproval(task.id)) ?? {};
    assert.deepEqual([status, decidedBy], ['expired', 'timeout']);
    const records = await store().readRecords(Math.max(0, (await store().logSize()) - 1000), 1000);
    assert.equal(records.filter(({ payload }) => payload?.includes(`"task":"${task.id}"`)).length, 1);
    assert.equal(await decide(task.id, true, { atMs: task.createdAtMs }), undefined);
  });

  test('that an agent decided is kept, and that a person did is the usual case', async () => {
    const session = await newSession();
    const [byAgent, byPerson] = [taskOf(session, { approvers: ['rev'] }), taskOf(session)];
    for (const task of [byAgent, byPerson]) await store().openApproval(task);
    const waiting = async (approver: string) =>
      (await store().listForAgent({ approver, limit: 10 })).map(({ id }) => id);
    assert.deepEqual([await waiting('rev'), await waiting('re'), await waiting('')], [[byAgent.id], [], []]);
    const decision = { approved: true, by: 'rev', atMs: Date.now(), effectSha256 };
    await store().decideApproval({ ...decision, taskId: byAgent.id, byAgent: true });
    await store().decideApproval({ ...decision, taskId: byPerson.id });
    assert.deepEqual(await waiting('rev'), []);
    await reopen();
    const found = await store().findApproval(byAgent.id);
    assert.deepEqual([found?.decidedBy, found?.decidedByAgent, found?.approvers], ['rev', true, ['rev']]);
    assert.equal((await store().findApproval(byPerson.id))?.decidedByAgent, undefined);
  });

  test('a caller that is to be called back stays untold until it is noted, also over a restart', async () => {
    const [called, other] = [await newSession({ callbackUrl: 'https://a.example' }), await newSession()];
    const [first, second, third] = [taskOf(called), taskOf(called), taskOf(other)];
    for (const task of [first, second, third]) await store().openApproval(task);
    const untold = async (endedAfterMs = 0) =>
      (await store().listUntold({ endedAfterMs, limit: 10 }))
        .filter(({ sessionId }) => [called.id, other.id].includes(sessionId))
        .map(({ id }) => id);
    assert.deepEqual(await untold(), [], 'they wait');
    const atMs = Date.now();
    const deny = { approved: false, by: 'sue', effectSha256 };
    for (const task of [third, first]) await store().decideApproval({ ...deny, taskId: task.id, atMs });
    await store().decideApproval({ ...deny, taskId: second.id, atMs: atMs + 1 });
    assert.deepEqual(await untold(), [first.id, second.id]);
    assert.deepEqual(await untold(atMs), [second.id], 'what ended long ago is not told any more');
    await store().noteTold(first.id, Date.now());
    await reopen();
    assert.deepEqual(await untold(), [second.id]);
    assert.equal(store().findSession(called.id)?.callbackUrl, 'https://a.example');
    await store().endSession(called.id);
    assert.deepEqual(await untold(), [], 'an ended session is called no more');
  });

  test('a standing approval is used as often as it allows, until it ends or is revoked', async () => {
    requirement('APPR-9');
    const session = await newSession();
    const nowMs = Date.now();
    const standing: StandingApproval = {
      id: randomUUIDv7(),
      sessionId: session.id,
      agent: session.agent,
      tool: 'files.write',
      risk: 'high',
      rulesHash: 'bb'.repeat(32),
      mode: 'NORMAL',
      grantedBy: 'olga',
      grantedAtMs: nowMs,
      expiresAtMs: nowMs + 60_000,
      usesLeft: 2,
    };
    await store().grantStanding(standing);
    const { id: standingId } = standing;
    const runs = await Promise.all(Array.from({ length: 5 }, () => admit(session, { kind: 'standing', standingId })));
    assert.equal(runs.filter(Boolean).length, 2);
    assert.deepEqual(store().listStanding({ sessionId: session.id, nowMs }), []);
    const { usesLeft: _, ...endless } = { ...standing, id: randomUUIDv7() };
    await store().grantStanding(endless);
    assert.deepEqual(store().listStanding({ sessionId: session.id, nowMs }), [endless]);
    assert.deepEqual(store().listStanding({ sessionId: session.id, nowMs: endless.expiresAtMs }), []);
    assert.equal(await admit(session, { kind: 'standing', standingId: endless.id }), true);
    assert.equal(await store().revokeStanding(endless.id, nowMs), true);
    assert.equal(await store().revokeStanding(endless.id, nowMs), false);
    assert.equal(await admit(session, { kind: 'standing', standingId: endless.id }), false);
  });

  test('a token is used once, unless it says otherwise, and never after it was revoked or has expired', async () => {
    requirement('APPR-7');
    const session = await newSession();
    const token = (more: object = {}) =>
      ({ kind: 'token', tokenId: randomUUIDv7(), expiresAtMs: Date.now() + 60_000, reusable: false, ...more }) as const;
    const [once, often] = [token(), token({ reusable: true })];
    const tries = async (use: ConsentUse) =>
      (await Promise.all([admit(session, use), admit(session, use)])).filter(Boolean).length;
    assert.equal(await tries(once), 1);
    await reopen();
    assert.equal(await tries(once), 0);
    assert.equal(await tries(often), 2);
    assert.equal(await store().isTokenUsed('never seen'), false);
    await store().revokeToken(often.tokenId, often.expiresAtMs);
    assert.equal(await store().isTokenUsed(often.tokenId), true);
    assert.equal(await tries(often), 0);
    assert.equal(await tries(token({ expiresAtMs: Date.now() - 1 })), 0);
  });

  test('the steps of a plan are started one by one, in the order that was approved', async () => {
    requirement('APPR-8');
    const session = await newSession();
    const nowMs = Date.now();
    const plan = planOf(session, nowMs);
    await store().proposePlan(plan);
    const decision = { planId: plan.id, approvedSteps: [0, 2], by: 'olga', atMs: nowMs };
    assert.equal((await store().decidePlan(decision))?.status, 'approved');
    assert.equal(await store().decidePlan(decision), undefined);
    const tokenId = randomUUIDv7();
    const start = (index: number) =>
      admit(session, {
        kind: 'token',
        tokenId,
        expiresAtMs: nowMs + 60_000,
        reusable: false,
        step: { planId: plan.id, index },
      });
    assert.deepEqual([await start(1), await start(2), await start(0)], [false, false, true]);
    assert.deepEqual([await start(0), await start(2), await start(2)], [false, true, false]);
    assert.equal((await store().findPlan(plan.id))?.started, 2);
    assert.equal((await store().listPlans({ sessionId: session.id, limit: 5 }))[0]?.id, plan.id);
  });

  test('a plan that nobody decides expires once, with one record, however often the clock looks and the store restarts', async () => {
    requirement('APPR-5', 'APPR-8');
    const plan = planOf(await newSession(), Date.now());
    await store().proposePlan(plan);
    assert.ok(((await store().nextApprovalDeadlineMs()) ?? Infinity) <= plan.expiresAtMs);
    assert.ok((await store().listPlans({ status: 'pending', limit: 100 })).some(({ id }) => id === plan.id));
    const mine = async (nowMs: number) =>
      (await store().ageApprovals(nowMs)).expiredPlans.filter(({ id }) => id === plan.id).map(({ status }) => status);
    assert.deepEqual(await mine(plan.expiresAtMs - 1), []);
    await reopen();
    assert.deepEqual(await mine(plan.expiresAtMs), ['expired']);
    await reopen();
    assert.deepEqual(await mine(plan.expiresAtMs + 1), []);
    const decision = { planId: plan.id, approvedSteps: [0], by: 'olga', atMs: plan.createdAtMs };
    assert.equal(await store().decidePlan(decision), undefined);
    const records = await store().readRecords(Math.max(0, (await store().logSize()) - 1000), 1000);
    assert.equal(records.filter(({ payload }) => payload?.includes(`"plan":"${plan.id}"`)).length, 1);
  });
}
