import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { requestRecorder } from './record-requests.ts';
import { ownText } from '../../call/redacted.ts';

const refused = { upstream: 'web', method: 'sampling/createMessage', decision: 'refused', reason: 'no rule' } as const;

test('within calls every request is on record with its rule; others are counted', () => {
  const records: JsonObject[] = [];
  let nowMs = 0;
  const record = requestRecorder(
    (payload) => records.push(payload),
    ownText,
    () => nowMs,
  );
  const rule = { id: 'ask', file: 'tools.yaml', line: 7 };
  for (let n = 0; n < 3; n++) record({ ...refused, callId: 'c', rule });
  assert.equal(records.length, 3);
  assert.deepEqual(records[0], {
    event: 'upstream_request_refused',
    ...{ upstream: 'web', method: 'sampling/createMessage', reason: 'no rule' },
    ...{ rule: 'ask', file: 'tools.yaml', line: 7, call_id: 'c' },
  });
  for (let n = 0; n < 5; n++) record(refused);
  assert.equal(records.length, 4);
  nowMs = 60_000;
  record(refused);
  assert.equal(records.at(-1)?.['unrecorded'], 4);
  record({ ...refused, method: 'x\u0007'.repeat(1000) });
  assert.ok(String(records.at(-1)?.['method']).length <= 100);
});
