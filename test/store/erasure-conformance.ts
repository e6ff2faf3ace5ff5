import assert from 'node:assert/strict';
import { randomUUID, randomUUIDv7 } from 'node:crypto';
import { test } from 'node:test';
import { parseRemoval } from '../../packages/log/src/removals.ts';
import { ownText } from '../../packages/gateway/src/call/redacted.ts';
import type { ErasedRows, NewErasure, NewSession, Store } from '../../packages/gateway/src/storage/stores.ts';
import { planOf, taskOf } from './approval-conformance.ts';
import { admissionFor, outcomeFor } from './entries.ts';

const dayMs = 86_400_000;

function erasureOf(more: Partial<NewErasure> = {}): NewErasure {
  const nowMs = Date.now();
  return {
    id: randomUUIDv7(),
    subject: { kind: 'agent', name: 'ada' },
    reason: ownText('she asked for it'),
    requestedBy: 'olga',
    requestedAtMs: nowMs,
    dueAtMs: nowMs + dayMs,
    ...more,
  };
}

const rowsOf = (more: Partial<ErasedRows>): ErasedRows => ({
  ...{ callIds: [], decisionIds: [], sessionIds: [], untilMs: Date.now() + 1000 },
  ...more,
});

/** What every store must do to forget for good. */
export function testErasures(
  open: () => Store,
  reopen: () => Promise<void>,
  newSession: (more?: Partial<NewSession>) => Promise<NewSession>,
): void {
  const lastPayload = async (): Promise<Record<string, unknown>> => {
    const size = await open().logSize();
    return JSON.parse((await open().readRecords(size - 1, 1))[0]?.payload ?? '{}') as Record<string, unknown>;
  };
  /** A call with a dedupe key and its result, a change in the journal, an approval and a plan. */
  const leaveTraces = async (session: NewSession) => {
    const key = randomUUID();
    const dedupe = { key, argumentsSha256: 'a', expiresAtMs: Date.now() + 3_600_000 };
    const admission = { ...admissionFor(session), dedupe };
    const admitted = await open().admit(admission);
    assert.ok(admitted.admitted);
    const sealedOutput = Uint8Array.of(1);
    const settled = { outcome: outcomeFor(admission), dedupe: { sessionId: session.id, key, sealedOutput } };
    const { index } = await open().settle(settled);
    const { callId } = admission.intent;
    const kept = `${callId}-1`;
    await open().writeJournal({
      ...{ callId, sessionId: session.id, traceId: randomUUID(), tool: 'files.write', agent: session.agent },
      atMs: Date.now(),
      changes: [{ path: '/w/a', before: { kind: 'link', target: 'x' }, after: { kind: 'absent' }, kept }],
    });
    const approval = await open().openApproval(taskOf(session, { callId }));
    const plan = planOf(session, Date.now());
    await open().proposePlan(plan);
    return { callId, indexes: [admitted.intentIndex, index], key, kept, approvalId: approval.id, planId: plan.id };
  };

  test('an erasure waits for its time, also across a restart, and is on record when it is asked for', async () => {
    const erasure = erasureOf();
    await open().requestErasure(erasure);
    const recorded = await lastPayload();
    assert.deepEqual(
      [recorded['event'], recorded['by'], recorded['subject']],
      ['erasure_requested', 'olga', { agent: 'ada' }],
    );
    await reopen();
    assert.equal(await open().nextErasure(erasure.dueAtMs - 1), undefined);
    assert.equal(await open().nextErasureDueMs(), erasure.dueAtMs);
    assert.deepEqual(await open().nextErasure(erasure.dueAtMs), {
      ...erasure,
      ...{ status: 'waiting', untilIndex: 0, nextIndex: 0, erasedRecords: 0 },
    });
    assert.equal(await open().cancelErasure(erasure.id, 'otto', 5), true);
    assert.deepEqual(await lastPayload(), { event: 'erasure_cancelled', erasure: erasure.id, by: 'otto' });
    assert.equal(await open().cancelErasure(erasure.id, 'otto', 6), false, 'once');
    assert.equal(await open().startErasure(erasure.id, 7), undefined, 'what was cancelled does not begin');
    assert.equal(await open().nextErasureDueMs(), undefined);
    const [newest] = await open().listErasures(1);
    assert.deepEqual([newest?.status, newest?.endedAtMs, newest?.cancelledBy], ['cancelled', 5, 'otto']);
  });

  test('one that has begun goes on after a restart, cannot be cancelled, and says which records it erased', async () => {
    const session = await newSession();
    const { indexes } = await leaveTraces(session);
    const erasure = erasureOf({ dueAtMs: 0 });
    await open().requestErasure(erasure);
    const size = await open().logSize();
    const begun = await open().startErasure(erasure.id, 3);
    assert.deepEqual([begun?.status, begun?.untilIndex, begun?.startedAtMs], ['running', size, 3]);
    assert.equal(await open().cancelErasure(erasure.id, 'otto', 5), false);
    await open().erasePayloads(erasure.id, { indexes, nextIndex: size - 1, atMs: 9 });
    await reopen();
    const going = await open().nextErasure(0);
    assert.deepEqual([going?.id, going?.nextIndex, going?.erasedRecords], [erasure.id, size - 1, 2]);
    assert.deepEqual(await open().startErasure(erasure.id, 99), going, 'it goes on as it began');
    for (const index of indexes) {
      const [record] = await open().readRecords(index, 1);
      assert.deepEqual([record?.salt, record?.payload], [undefined, undefined]);
    }
    const told = await lastPayload();
    assert.equal(told['erasure'], erasure.id);
    const [first = 0, second = 0] = indexes;
    const removal = parseRemoval(JSON.stringify(told), await open().logSize());
    const ranges =
      first + 1 === second
        ? [[first, second]]
        : [
            [first, first],
            [second, second],
          ];
    assert.deepEqual(removal, { kind: 'erased', ranges });
    await open().endErasure(erasure.id, 11);
    await open().endErasure(erasure.id, 12);
    assert.deepEqual(await lastPayload(), { event: 'erasure_done', erasure: erasure.id, erased_records: 2 });
    assert.equal(await open().nextErasure(Date.now()), undefined);
    assert.equal((await open().listErasures(1))[0]?.endedAtMs, 11);
    assert.equal(typeof (await open().compact({ isRoutine: true })), 'boolean');
  });

  test('what stands beside the log goes by session, and that of other sessions stays', async () => {
    const [erased, other] = [await newSession(), await newSession()];
    const [gone, stays] = [await leaveTraces(erased), await leaveTraces(other)];
    const rows = rowsOf({ sessionIds: [erased.id] });
    assert.deepEqual(await open().listKeptOnlyFor(rows), [gone.kept]);
    assert.deepEqual(await open().listKeptOnlyFor({ ...rows, untilMs: 1 }), [], 'what came later is not meant');
    await open().eraseRows({ ...rows, untilMs: 1 });
    assert.ok(await open().findApproval(gone.approvalId));
    await open().eraseRows(rows);
    await reopen();
    const dedupe = await open().findDedupe(erased.id, gone.key, Date.now());
    assert.deepEqual([dedupe?.state, dedupe?.sealedOutput], ['unknown', undefined], 'a key stays taken');
    assert.deepEqual(await open().readJournal({ callId: gone.callId }, 9), []);
    assert.equal(await open().findApproval(gone.approvalId), undefined);
    assert.equal(await open().findPlan(gone.planId), undefined);
    assert.ok((await open().findDedupe(other.id, stays.key, Date.now()))?.sealedOutput);
    assert.equal((await open().readJournal({ callId: stays.callId }, 9)).length, 1);
    assert.ok((await open().findApproval(stays.approvalId)) && (await open().findPlan(stays.planId)));
  });

  test('what stands beside the log goes by call', async () => {
    const session = await newSession();
    const [gone, stays] = [await leaveTraces(session), await leaveTraces(session)];
    const rows = rowsOf({ callIds: [gone.callId], decisionIds: [gone.approvalId, gone.planId] });
    assert.deepEqual(await open().listKeptOnlyFor(rows), [gone.kept]);
    await open().eraseRows(rows);
    assert.equal((await open().findDedupe(session.id, gone.key, Date.now()))?.state, 'unknown');
    assert.equal((await open().findDedupe(session.id, stays.key, Date.now()))?.state, 'succeeded');
    assert.deepEqual(
      [await open().findApproval(gone.approvalId), await open().findPlan(gone.planId)],
      [undefined, undefined],
    );
    assert.ok((await open().findApproval(stays.approvalId)) && (await open().findPlan(stays.planId)));
    assert.equal((await open().readJournal({ callId: stays.callId }, 9)).length, 1);
  });

  test('age takes what has ended, and leaves what somebody may still decide', async () => {
    const session = await newSession();
    const old = await leaveTraces(session);
    await open().eraseRows(rowsOf({ beforeMs: Date.now() + 1000 }));
    assert.deepEqual(await open().readJournal({ callId: old.callId }, 9), []);
    assert.ok((await open().findApproval(old.approvalId)) && (await open().findPlan(old.planId)));
  });

  test('content that nobody else may use is named, and what is published or shared is not', async () => {
    const [one, other] = [await newSession(), await newSession()];
    const put = async (session: NewSession, hash: string, nowMs = Date.now()) => {
      await open().recordContent({ sessionId: session.id, hash, sizeBytes: 1, nowMs });
      return hash;
    };
    const hashOf = () => `${randomUUID()}${randomUUID()}`.replaceAll('-', '');
    const [own, shared, published] = [hashOf(), hashOf(), hashOf()];
    for (const hash of [own, shared, published]) await put(one, hash);
    await put(other, shared);
    await open().publishArtifact({
      ...{ id: randomUUIDv7(), contentHash: published, sizeBytes: 1, category: 'c', metadata: [] },
      ...{ sessionId: one.id, agent: one.agent, publishedAtMs: 1 },
    });
    assert.deepEqual(await open().listContentOnlyFor({ sessionIds: [one.id] }), [own]);
    const old = await put(other, hashOf(), 5);
    assert.deepEqual(await open().listContentOnlyFor({ sessionIds: [], beforeMs: 6 }), [old]);
  });

  test('how long the rules have payloads kept is remembered and on record', async () => {
    await open().noteRetention({ days: 30, sinceMs: 7 });
    assert.deepEqual(await lastPayload(), { event: 'retention_changed', keep_payload_days: 30 });
    await reopen();
    assert.deepEqual(await open().readRetention(), { days: 30, sinceMs: 7 });
    await open().noteRetention({ sinceMs: 8 });
    assert.deepEqual(await open().readRetention(), { sinceMs: 8 });
  });

  test('payloads that went into a file are told from erased ones', async () => {
    const session = await newSession();
    const { indexes } = await leaveTraces(session);
    await open().archivePayloads({ indexes, file: 'a.jsonl', by: 'olga', atMs: 4 });
    const told = await lastPayload();
    assert.deepEqual([told['event'], told['file'], told['by']], ['payloads_archived', 'a.jsonl', 'olga']);
    assert.equal((await open().readRecords(indexes[0] ?? 0, 1))[0]?.payload, undefined);
  });

  test('a dedupe result is gone after its hour, not only hidden', async () => {
    const session = await newSession();
    const { key } = await leaveTraces(session);
    await open().forgetExpired(Date.now() + 3_700_000);
    assert.equal(await open().findDedupe(session.id, key, 0), undefined);
  });
}
