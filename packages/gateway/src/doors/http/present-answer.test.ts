import assert from 'node:assert/strict';
import { test } from 'node:test';
import { completed, failed, faulted, refused } from '../../closers/ending.test-kit.ts';
import type { CallEnding } from '../../call/stage.ts';
import { refuse } from '../../call/refusal.ts';
import { ToolFailure } from '../../call/tool.ts';
import { answerOf } from '../../daemon/answer-call.test-kit.ts';
import { callOf, nowMs, toolOf } from '../../stages/facts.test-kit.ts';
import { assertDescribed } from './openapi.test-kit.ts';
import { presentAnswer } from './present-answer.ts';
import { requirement } from '../../../../../test/requirement.ts';

function asToolResult(ending: CallEnding) {
  const { status, body } = presentAnswer(answerOf(ending, nowMs + 7), 'tool-result');
  return { status, ...assertDescribed('ToolResult', body) } as Record<string, unknown>;
}

const toolResultIds = { request_id: 'r-1', call_id: callOf().callId, trace_id: '4bf92f3577b34da6a3ce929d0e0e4736' };

test('ToolResult: a success is its output, with what was measured', () => {
  requirement('WIRE-8');
  const execution = {
    result: { ok: true, output: 1 },
    usage: { cpuMs: 1.5, bytesRead: 7 },
    changes: [],
    hasBegun: false,
  } as const;
  assert.deepEqual(asToolResult(completed({ execution, warnings: ['Again?'], toolName: 'read_note' }, { lines: 1 })), {
    status: 200,
    tool_name: 'read_note',
    success: true,
    output: { lines: 1 },
    error: null,
    latency_ms: 7,
    metadata: { tool: 'notes.read', ...toolResultIds, warnings: ['Again?'], usage: { cpu_ms: 1.5, bytes_read: 7 } },
  });
});

test('ToolResult: an output is text or an object, and anything else its JSON text', () => {
  const outputs = ['text', { a: [1] }, [1, 'a'], 7, null].map(
    (output) => asToolResult(completed({}, output))['output'],
  );
  assert.deepEqual(outputs, ['text', { a: [1] }, '[1,"a"]', '7', 'null']);
});

test('ToolResult: an output that is too large for an answer is named in its place, with how to get it', () => {
  const kept = { hash: 'ab'.repeat(32), sizeBytes: 2_000_000 };
  const outcome = { ok: true, outputJson: '', kept, summary: '' } as const;
  const { output } = asToolResult(completed({ outcome })) as { readonly output: Record<string, unknown> };
  assert.deepEqual([output['result_hash'], output['result_size']], [kept.hash, kept.sizeBytes]);
  assert.match(String(output['note']), /content\.get/);
});

test('ToolResult: a trace id of the caller stands beside ours', () => {
  const { metadata } = asToolResult(completed({ callerTraceId: 'order 66' })) as { readonly metadata: object };
  assert.deepEqual(metadata, { ...metadata, trace_id: toolResultIds.trace_id, caller_trace_id: 'order 66' });
});

test('ToolResult: a denial names rule, code and remedy, with the status of the code', () => {
  const violations = [{ field: 'path', rule: 'required', message: 'path is required' }];
  const refusal = refuse('INVALID_ARGUMENTS', 'input-schema', 'They do not fit.', { violations, remedy: 'See.' });
  assert.deepEqual(
    asToolResult(refused(refusal, 'check-arguments', { ...callOf(), traceId: toolResultIds.trace_id })),
    {
      status: 400,
      tool_name: 'notes.read',
      success: false,
      output: {},
      error: 'They do not fit.',
      latency_ms: 7,
      metadata: {
        tool: 'notes.read',
        ...toolResultIds,
        code: 'INVALID_ARGUMENTS',
        category: 'validation_failed',
        retryable: false,
        rule_id: 'input-schema',
        remedy: 'See.',
        violations,
      },
    },
  );
});

test('ToolResult: a call that needs a person did not succeed, and shows what they would agree to', () => {
  const approval = { binding: 'b'.repeat(64), effect: '-old\n+new' };
  const pending = asToolResult(
    refused(refuse('APPROVAL_REQUIRED', 'ask', 'Ask.', { approval }), 'seek-approval', callOf()),
  );
  assert.deepEqual([pending['status'], pending['success']], [400, false]);
  assert.deepEqual((pending['metadata'] as { approval: unknown }).approval, approval);
});

test('ToolResult: failures, limits and faults keep their codes, and each its status', () => {
  const limited = refuse('RATE_LIMITED', 'rate-limit-60s', 'Too many.', { retryAfterMs: 1500 });
  const seen = [
    failed(new ToolFailure('NOT_FOUND', 'Gone.')),
    failed(new ToolFailure('TIMEOUT', 'Too slow.')),
    refused(limited, 'admit-call', callOf()),
    refused(refuse('UNAUTHENTICATED', 'credential', 'Who?'), 'open-session', callOf()),
    faulted(new Error('secret'), 'execute-tool', callOf()),
  ].map((ending) => {
    const { status, success, error, metadata } = asToolResult(ending);
    const { code, retryable, retry_after_ms: retryAfterMs } = metadata as Record<string, unknown>;
    assert.equal(success, false);
    assert.doesNotMatch(String(error), /secret/);
    return [status, code, retryable, retryAfterMs];
  });
  assert.deepEqual(seen, [
    [404, 'NOT_FOUND', false, undefined],
    [504, 'TIMEOUT', false, undefined],
    [429, 'RATE_LIMITED', true, 1500],
    [401, 'UNAUTHENTICATED', false, undefined],
    [500, 'INTERNAL', false, undefined],
  ]);
});

function asExecutionResult(ending: CallEnding) {
  const { status, body } = presentAnswer(answerOf(ending, nowMs + 7), 'execution-result');
  const read = assertDescribed('ToolExecutionResult', body);
  return { httpStatus: status, ...read, metadata: read['metadata'] as Record<string, unknown> } as {
    readonly [field: string]: unknown;
    readonly metadata: Record<string, unknown>;
  };
}

const executionResultIds = { tool: 'notes.read', callId: callOf().callId, traceId: '4bf92f3577b34da6a3ce929d0e0e4736' };

test('ToolExecutionResult: a success is its data, how long the tool ran, and who agreed', () => {
  requirement('WIRE-8');
  const usage = { cpuMs: 1.5, peakMemoryBytes: 4096, networkConnections: 2, bytesRead: 7 };
  const execution = { result: { ok: true, output: 1 }, usage, changes: [], hasBegun: false } as const;
  const consent = { by: 'olga', how: 'own-call-confirmed', atMs: nowMs, binding: 'b' } as const;
  const given = { execution, consent, activeMs: 3, warnings: ['Again?'], taskId: 'task' };
  assert.deepEqual(asExecutionResult(completed(given, [1, 'a'])), {
    httpStatus: 200,
    requestId: 'r-1',
    status: 'success',
    data: [1, 'a'],
    metadata: {
      executionTime: 3,
      resourceUsage: { cpuTime: 1.5, memoryPeak: 4096, networkCalls: 2 },
      approvedBy: 'olga',
      approvedAt: '2030-01-01T00:00:00.000Z',
      ...executionResultIds,
      context: { taskId: 'task', correlationId: '' },
      warnings: ['Again?'],
    },
    executedAt: '2030-01-01T00:00:00.007Z',
  });
});

test('ToolExecutionResult: what was not measured is not claimed to be zero', () => {
  const execution = {
    result: { ok: true, output: 1 },
    usage: { cpuMs: 2 },
    changes: [],
    hasBegun: false,
  } as const;
  const online = toolOf({ scopes: ['network'] });
  assert.deepEqual(asExecutionResult(completed({ execution, tool: online })).metadata['resourceUsage'], { cpuTime: 2 });
  // A tool of the gate without a way to the network has made no connection.
  const offline = asExecutionResult(completed({ execution }));
  assert.deepEqual(offline.metadata['resourceUsage'], { cpuTime: 2, networkCalls: 0 });
  const denied = asExecutionResult(refused(refuse('RULE_DENIES', 'no', 'No.'), 'judge-call', callOf()));
  assert.deepEqual(denied.metadata['resourceUsage'], {});
  assert.equal(denied.metadata['executionTime'], 0);
});

test('ToolExecutionResult: a denial is a failure that names rule, code and remedy', () => {
  const violations = [{ field: 'path', rule: 'required', message: 'path is required' }];
  const refusal = refuse('INVALID_ARGUMENTS', 'input-schema', 'They do not fit.', { violations, remedy: 'See.' });
  const denied = asExecutionResult(
    refused(refusal, 'check-arguments', { ...callOf(), traceId: executionResultIds.traceId }),
  );
  assert.deepEqual(denied, {
    httpStatus: 400,
    requestId: 'r-1',
    status: 'failure',
    error: 'They do not fit.',
    metadata: {
      executionTime: 0,
      resourceUsage: {},
      ...executionResultIds,
      code: 'INVALID_ARGUMENTS',
      category: 'validation_failed',
      retryable: false,
      ruleId: 'input-schema',
      remedy: 'See.',
      violations,
    },
    executedAt: '2030-01-01T00:00:00.007Z',
  });
});

test('ToolExecutionResult: a call that needs a person is pending, which is no failure', () => {
  const approval = { binding: 'b'.repeat(64), effect: '-old\n+new' };
  const needs = (more: object) => refused(refuse('APPROVAL_REQUIRED', 'ask', 'Ask.', more), 'seek-approval', callOf());
  const shown = asExecutionResult(needs({ approval, remedy: 'Look.' }));
  assert.deepEqual([shown['httpStatus'], shown['status'], shown['error']], [202, 'pending_approval', undefined]);
  const { reason, remedy, approvalTaskId, approval: given } = shown.metadata;
  assert.deepEqual([reason, remedy, approvalTaskId, given], ['Ask.', 'Look.', approval.binding, approval]);
  // A caller that may not see the effect gets no task id.
  const hidden = asExecutionResult(needs({}));
  assert.equal(hidden['status'], 'pending_approval');
  assert.equal('approvalTaskId' in hidden.metadata, false);
});

test('ToolExecutionResult: failures, limits and faults keep their codes, and each its status', () => {
  const limited = refuse('RATE_LIMITED', 'rate-limit-60s', 'Too many.', { retryAfterMs: 1500 });
  const mismatch = refuse('APPROVAL_MISMATCH', 'ask', 'Changed.', { approval: { binding: 'b', effect: 'e' } });
  const seen = [
    failed(new ToolFailure('NOT_FOUND', 'Gone.')),
    refused(limited, 'admit-call', callOf()),
    refused(mismatch, 'seek-approval', callOf()),
    faulted(new Error('secret'), 'execute-tool', callOf()),
  ].map((ending) => {
    const { httpStatus, status, error, data, metadata } = asExecutionResult(ending);
    assert.deepEqual([status, data], ['failure', undefined]);
    assert.doesNotMatch(String(error), /secret/);
    return [httpStatus, metadata['code'], metadata['retryAfterMs']];
  });
  assert.deepEqual(seen, [
    [404, 'NOT_FOUND', undefined],
    [429, 'RATE_LIMITED', 1500],
    [400, 'APPROVAL_MISMATCH', undefined],
    [500, 'INTERNAL', undefined],
  ]);
});
