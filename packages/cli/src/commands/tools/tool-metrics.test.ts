import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countCalls } from './tool-metrics.ts';
import type { AuditRecord, InJson } from '@sallyport/contract';

let lastCall = 0;

function record(
  kind: string,
  result: string,
  payload: object,
  callId = `call-${(lastCall += 1)}`,
): InJson<AuditRecord> {
  const payloadJson = JSON.stringify({ tool: 'a', ...payload });
  return {
    index: '',
    leafHash: '',
    sessionId: '',
    rulesHash: '',
    kind,
    result,
    callId,
    timeMs: `${lastCall}`,
    payloadJson,
  };
}

const ran = (durationMs: number): InJson<AuditRecord> => record('outcome', 'ok', { duration_ms: durationMs });

test('calls are counted by how they ended, with the reasons of those that did not succeed', () => {
  const metrics = countCalls([
    record('intent', 'none', {}),
    ran(1),
    record('outcome', 'error', { duration_ms: 9, error: { code: 'TIMEOUT' } }),
    record('outcome', 'error', { duration_ms: 9, error: { code: 'TIMEOUT' } }),
    record('outcome', 'fault', { fault: { stage: 'execute-tool' } }),
    record('outcome', 'unknown', {}),
    record('outcome', 'denied', { duration_ms: 4, refusal: { code: 'STANDING_CHANGED' } }),
    record('refusal', 'denied', { refusal: { code: 'RULE_DENIES' } }),
    record('refusal', 'pending', { refusal: { code: 'APPROVAL_REQUIRED' } }),
    record('event', 'none', {}),
  ]).get('a');
  assert.ok(metrics);
  const { calls, succeeded, failed, denied, asked, reasons } = metrics;
  assert.deepEqual(
    { calls, succeeded, failed, denied, asked },
    { calls: 8, succeeded: 1, failed: 4, denied: 2, asked: 1 },
  );
  assert.deepEqual(Object.entries(reasons)[0], ['TIMEOUT', 2]);
  assert.deepEqual(new Set(Object.keys(reasons)), new Set(['TIMEOUT', 'FAULT', 'STANDING_CHANGED', 'RULE_DENIES']));
});

test('durations are those that were measured: of calls that ran, and not of results handed out again', () => {
  const slow = record('outcome', 'ok', { duration_ms: 1000 }, 'again');
  const metrics = countCalls([
    ...Array.from({ length: 200 }, (_, at) => ran(at + 1)),
    record('refusal', 'denied', { duration_ms: 5000, refusal: { code: 'RULE_DENIES' } }),
    record('intent', 'none', { reused_from: 'call-1' }, 'again'),
    slow,
  ]);
  assert.deepEqual(metrics.get('a')?.durations, { p50Ms: 100, p99Ms: 198, maxMs: 200 });
  assert.equal(metrics.get('a')?.calls, 202);
  assert.equal(countCalls([record('refusal', 'denied', {})]).get('a')?.durations, undefined);
  assert.deepEqual(countCalls([ran(7)]).get('a')?.durations, { p50Ms: 7, p99Ms: 7, maxMs: 7 });
});

test('aliases count for their tool; names that no tool has, and erased records, for none', () => {
  const canonical = (name: string): string => (name === 'alias' ? 'a' : name);
  const metrics = countCalls(
    [
      ran(1),
      record('refusal', 'denied', { tool: 'alias' }),
      record('refusal', 'denied', { tool: 'nonsense', refusal: { code: 'UNKNOWN_TOOL' } }),
      { ...record('outcome', 'ok', {}), payloadJson: '' },
    ],
    canonical,
  );
  assert.deepEqual(
    [...metrics].map(([name, { calls }]) => [name, calls]),
    [['a', 2]],
  );
});
