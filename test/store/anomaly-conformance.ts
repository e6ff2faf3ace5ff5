import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { test } from 'node:test';
import { decodeLeaf } from '../../packages/log/src/leaf.ts';
import { ownText } from '../../packages/gateway/src/call/redacted.ts';
import type { NewAnomaly } from '../../packages/gateway/src/call/anomaly.ts';
import type { NewSession } from '../../packages/gateway/src/storage/stores.ts';
import type { ReopenedStore } from './mode-conformance.ts';

interface Parts extends ReopenedStore {
  readonly newSession: () => Promise<NewSession>;
}

let atMs = 1_700_000_000_000;

function anomalyOf(more: Partial<NewAnomaly> = {}): NewAnomaly {
  const call = { callId: randomUUIDv7(), tool: ownText('files.read'), atMs, result: 'ok' };
  atMs += 1000;
  return {
    ...{ id: randomUUIDv7(), kind: 'call_spike', detail: '', agent: 'ada', sessionId: '', beganAtMs: atMs },
    ...{ summary: ownText('More than 50 calls within 5 minutes.'), calls: [call], senior: 'sue' },
    ...more,
  };
}

/** What every store must do about anomalies. */
export function testAnomalies({ store, reopen, newSession }: Parts): void {
  test('an anomaly is kept with its calls, and stands in the log as an event that names them', async () => {
    const size = await store().logSize();
    const begun = anomalyOf({ kind: 'suspicious_combination', detail: 'a-b' });
    assert.deepEqual(await store().openAnomaly(begun), { quarantined: false });
    await reopen();
    const whole = { ...begun, lastAtMs: begun.beganAtMs, sightings: 1, done: [] };
    assert.deepEqual(await store().findAnomaly(begun.id), whole);
    assert.equal(await store().findAnomaly(randomUUIDv7()), undefined);
    const records = (await store().readRecords(size, 10)).map(({ leaf, payload = '' }) => {
      const { kind, callId } = decodeLeaf(leaf);
      return [kind, callId, JSON.parse(payload) as unknown];
    });
    const told = { event: 'anomaly_detected', anomaly: begun.id, anomaly_kind: begun.kind, detail: 'a-b' };
    const about = { agent: 'ada', summary: begun.summary, calls: [begun.calls[0]?.callId], for: 'sue' };
    assert.deepEqual(records, [['event', undefined, { ...told, ...about }]]);
  });

  test('how an anomaly goes on, what was done and who saw it are kept; the first who saw it stays', async () => {
    const begun = anomalyOf();
    await store().openAnomaly(begun);
    await store().continueAnomalies([{ id: begun.id, lastAtMs: begun.beganAtMs + 5000, sightings: 7 }]);
    await store().noteResponse(begun.id, 'raise_mode');
    await store().noteAnomalyTold(begun.id, 1);
    assert.equal((await store().acknowledgeAnomaly(begun.id, 'olga', 5))?.seen?.by, 'olga');
    assert.equal((await store().acknowledgeAnomaly(begun.id, 'otto', 6))?.seen?.by, 'olga');
    assert.equal(await store().acknowledgeAnomaly(randomUUIDv7(), 'otto', 6), undefined);
    await reopen();
    assert.deepEqual(await store().findAnomaly(begun.id), {
      ...begun,
      ...{ lastAtMs: begun.beganAtMs + 5000, sightings: 7, done: ['raise_mode'], seen: { by: 'olga', atMs: 5 } },
    });
  });

  test('an anomaly puts its session into quarantine in the same commit, with the record of every quarantine', async () => {
    const { id: sessionId } = await newSession();
    const size = await store().logSize();
    const misconduct = { sessionId, weight: 100, limit: 100, windowMs: 600_000 };
    const begun = anomalyOf({ sessionId, kind: 'permission_escalation' });
    assert.deepEqual(await store().openAnomaly(begun, misconduct), { quarantined: true });
    assert.equal(store().findSession(sessionId)?.status, 'quarantined');
    assert.deepEqual((await store().findAnomaly(begun.id))?.done, ['quarantine']);
    const events = (await store().readRecords(size, 10)).map(
      ({ payload = '{}' }) => (JSON.parse(payload) as { event?: string }).event,
    );
    assert.deepEqual(events, ['anomaly_detected', 'session_quarantined']);
    // A session that is there already is not put there again.
    assert.deepEqual(await store().openAnomaly(anomalyOf({ sessionId }), misconduct), { quarantined: false });
  });

  test('anomalies are listed newest first, by what is asked for, page by page', async () => {
    const [agent, sessionId] = [`lister-${randomUUIDv7()}`, randomUUIDv7()];
    const [first, second, third] = [
      anomalyOf({ agent, sessionId }),
      anomalyOf({ agent, kind: 'repeated_failures' }),
      anomalyOf({ agent, sessionId }),
    ];
    for (const each of [first, second, third]) await store().openAnomaly(each);
    await store().acknowledgeAnomaly(first.id, 'olga', 5);
    await store().noteAnomalyTold(second.id, 5);
    await store().continueAnomalies([{ id: first.id, lastAtMs: third.beganAtMs + 9, sightings: 2 }]);
    const list = async (filter: Partial<Parameters<ReturnType<typeof store>['listAnomalies']>[0]>) =>
      (await store().listAnomalies({ agent, limit: 10, ...filter })).map(({ id }) => id);
    assert.deepEqual(await list({}), [third.id, second.id, first.id]);
    assert.deepEqual(await list({ limit: 1 }), [third.id]);
    assert.deepEqual(await list({ after: third.id, limit: 1 }), [second.id]);
    assert.deepEqual(await list({ kind: 'repeated_failures' }), [second.id]);
    assert.deepEqual(await list({ sessionId }), [third.id, first.id]);
    assert.deepEqual(await list({ unseen: true }), [third.id, second.id]);
    assert.deepEqual(await list({ untold: true }), [third.id, first.id]);
    assert.deepEqual(await list({ sinceMs: third.beganAtMs }), [third.id, first.id], 'what still went on then counts');
    assert.deepEqual(await list({ agent: 'nobody' }), []);
    const all = (await store().listAnomalies({ limit: 1000 })).map(({ id }) => id);
    assert.deepEqual(all.slice(0, 3), [third.id, second.id, first.id]);
  });
}
