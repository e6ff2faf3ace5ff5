import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerToJson, exitCodeOfStatus, statusOf } from './answer-json.ts';

const ids = { requestId: 'r', callId: 'c', traceId: 't', tool: 'files.read' };

test('a success has its output, its usage and no field that does not apply', () => {
  const answer = { ...ids, durationMs: '3', success: { outputJson: '{"n":1}' }, usage: { bytesRead: '0', cpuMs: 1.5 } };
  assert.deepEqual(answerToJson(answer), {
    request_id: 'r',
    call_id: 'c',
    trace_id: 't',
    tool: 'files.read',
    status: 'success',
    output: { n: 1 },
    usage: { cpu_ms: 1.5, bytes_read: 0 },
    duration_ms: 3,
  });
});

test('an output of null is still an output', () => {
  assert.ok('output' in (answerToJson({ ...ids, success: { outputJson: 'null' } }) ?? {}));
});

test('a denial says rule, code, message and remedy, and its violations when there are any', () => {
  const violation = { field: 'path', rule: 'required', message: 'path is missing' };
  const denied = { ruleId: 'schema', rationaleCode: 'INVALID_ARGUMENTS', message: 'no', violations: [violation] };
  assert.deepEqual((answerToJson({ ...ids, denied }) as { denied: unknown }).denied, {
    rule_id: 'schema',
    rationale_code: 'INVALID_ARGUMENTS',
    message: 'no',
    remedy: '',
    violations: [violation],
  });
  assert.equal(exitCodeOfStatus[statusOf({ denied })], 3);
});

test('a call that waits for somebody else is pending; one that its own operator can confirm is denied', () => {
  const denied = { ruleId: 'ask', rationaleCode: 'APPROVAL_REQUIRED', message: 'Ask.' };
  assert.equal(exitCodeOfStatus[statusOf({ denied: { ...denied, approval: { taskId: 't', status: 'pending' } } })], 5);
  assert.equal(exitCodeOfStatus[statusOf({ denied: { ...denied, approval: { binding: 'b' } } })], 3);
  const decided = { ...denied, rationaleCode: 'APPROVAL_DENIED', approval: { taskId: 't', status: 'denied' } };
  assert.equal(exitCodeOfStatus[statusOf({ denied: decided })], 3);
});

test('an error says whether and when to try again', () => {
  const error = { code: 'RATE_LIMITED', message: 'later', retryable: true, retryAfterMs: '500', category: 'timeout' };
  assert.deepEqual((answerToJson({ ...ids, error }) as { error: unknown }).error, {
    code: 'RATE_LIMITED',
    message: 'later',
    retryable: true,
    retry_after_ms: 500,
    category: 'timeout',
  });
});

test('an answer that says nothing is an error, never a success', () => {
  assert.equal(statusOf({}), 'error');
});
