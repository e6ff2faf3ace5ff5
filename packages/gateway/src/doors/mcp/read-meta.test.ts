import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMeta } from './read-meta.ts';

test('a client that says nothing gets what fits all clients', () => {
  const said = readMeta(undefined, 'abcdefgh:7');
  assert.deepEqual(said, {
    requestId: 'abcdefgh:7',
    approvalTaskId: undefined,
    confirmToken: undefined,
    traceparent: undefined,
    tracestate: undefined,
    violations: undefined,
    dedupeKey: '',
    taskId: '',
    correlationId: '',
    timeoutMs: 0,
    waitMs: 45_000,
  });
});

test('a client may name the request itself', () => {
  assert.equal(readMeta({ 'sallyport/request_id': 'mine' }, 'ours').requestId, 'mine');
});

test('nobody waits longer than clients do, or for a negative time', () => {
  for (const [asked, given] of [
    [90_000, 45_000],
    [0, 0],
    [-5, 0],
    [200, 200],
  ] as const) {
    assert.equal(readMeta({ 'sallyport/wait_ms': asked }, 'r').waitMs, given);
  }
});

test('every member of the wrong kind is a violation, and none is used', () => {
  const said = readMeta(
    {
      traceparent: 1,
      'sallyport/dedupe_key': {},
      'sallyport/timeout_ms': '5',
      'sallyport/approval_task_id': 'x'.repeat(65),
    },
    'r',
  );
  assert.equal(said.violations?.length, 4);
  assert.equal(said.traceparent, undefined);
  assert.equal(said.approvalTaskId, undefined);
});
