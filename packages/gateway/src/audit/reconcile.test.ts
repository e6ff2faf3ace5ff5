import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import { createTestSession, openTestStore, readLog } from '../stages/store.test-kit.ts';
import { reconcileIntents } from './reconcile.ts';
import { ownText } from '../call/redacted.ts';

test('every intent without outcome is closed as unknown, once, and its dedupe key with it', async (t) => {
  requirement('AUD-2', 'PIPE-6');
  const store = await openTestStore(t);
  const session = await createTestSession(store);
  const callIds = [randomUUIDv7(), randomUUIDv7(), randomUUIDv7()];
  const payload = ownText('{"tool":"files.read","agent":"ada","other":1}');
  for (const [at, callId] of callIds.entries()) {
    const intent = { kind: 'intent', result: 'none', timeMs: 1, callId, sessionId: session.id, payload } as const;
    const dedupe = { key: `k${at}`, argumentsSha256: 'a', expiresAtMs: Date.now() + 60_000 };
    await store.admit({
      sessionId: session.id,
      basedOn: Number.MAX_SAFE_INTEGER,
      leaseId: session.lease.id,
      tool: 'files.read',
      intent,
      reservations: [],
      dedupe,
    });
  }
  const [settled = '', ...cutOff] = callIds;
  await store.settle({
    outcome: { kind: 'outcome', result: 'ok', timeMs: 2, callId: settled, payload: ownText('{}') },
  });

  const found = await reconcileIntents(store, 5000);
  assert.deepEqual(
    found,
    cutOff.map((callId) => ({ callId, tool: 'files.read' })),
  );
  const closed = (await readLog(store)).slice(4);
  assert.deepEqual(
    closed.map(({ leaf }) => [leaf.kind, leaf.result, leaf.callId, leaf.sessionId, leaf.timeMs]),
    cutOff.map((callId) => ['outcome', 'unknown', callId, session.id, 5000]),
  );
  assert.deepEqual(
    closed.map(({ payload: { tool, agent, intent, other } }) => ({ tool, agent, intent, other })),
    [1, 2].map((intent) => ({ tool: 'files.read', agent: 'ada', intent, other: undefined })),
    'it says whose call of what was cut off',
  );
  assert.equal((await store.findDedupe(session.id, 'k1', Date.now()))?.state, 'unknown');
  assert.deepEqual(await store.listOpenIntents(), []);
  assert.deepEqual(await reconcileIntents(store, 6000), []);
});

test('a log that cannot be written keeps the daemon from starting as if all were well', async () => {
  const open = [{ callId: randomUUIDv7(), index: 0, sessionId: randomUUIDv7(), timeMs: 1 }];
  const store = {
    listOpenIntents: () => Promise.resolve(open),
    readRecordsOfCall: () => Promise.resolve([]),
    settle: () => Promise.reject(new Error('sealed')),
  };
  await assert.rejects(reconcileIntents(store, 1), /sealed/);
});
