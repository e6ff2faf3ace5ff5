import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { test } from 'node:test';
import { ownJson } from '../../call/redacted.ts';
import { createTestSession, openTestStore } from '../../stages/store.test-kit.ts';
import { readPastCalls } from './open-calls.ts';

/** More than a reader of the newest records would ever look at. */
const flood = 51_000;
const atOnce = 3000;

test('what a session did is known, and each of its calls is found, however much others did since', async (t) => {
  const store = await openTestStore(t);
  const session = await createTestSession(store);
  const callId = randomUUIDv7();
  const intent = {
    kind: 'intent',
    result: 'none',
    timeMs: 5000,
    callId,
    payload: ownJson({ tool: 'files.read' }),
  } as const;
  const admission = {
    sessionId: session.id,
    leaseId: session.lease.id,
    basedOn: Number.MAX_SAFE_INTEGER,
    tool: 'files.read',
    reservations: [],
  };
  await store.admit({ ...admission, intent: { ...intent, sessionId: session.id } });
  await store.settle({ outcome: { ...intent, kind: 'outcome', result: 'ok', timeMs: 6000 } });
  for (let written = 0; written < flood; written += atOnce) {
    const noise = {
      kind: 'refusal',
      result: 'denied',
      timeMs: 7000,
      sessionId: randomUUIDv7(),
      payload: ownJson({}),
    } as const;
    await Promise.all(Array.from({ length: atOnce }, () => store.append(noise)));
  }
  assert.deepEqual(await readPastCalls(store)(session.id), [{ tool: 'files.read', startedAtMs: 5000 }]);
  assert.deepEqual(await readPastCalls(store)(randomUUIDv7()), []);
  assert.deepEqual(
    (await store.readRecordsOfCall(callId)).map(({ index }) => index),
    [0, 1],
  );
  assert.deepEqual(await store.readRecordsOfCall('no id at all'), []);
});
