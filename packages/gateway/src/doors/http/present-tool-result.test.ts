import assert from 'node:assert/strict';
import { test } from 'node:test';
import { completed, failed, faulted, refused } from '../../closers/ending.test-kit.ts';
import type { GatewayEnding } from '../../gateway.ts';
import { refuse } from '../../call/refusal.ts';
import { ToolFailure } from '../../call/tool.ts';
import { callOf, nowMs } from '../../stages/facts.test-kit.ts';
import { assertDescribed } from './openapi.test-kit.ts';
import { presentToolResult } from './present-tool-result.ts';
import { redactedEnding } from '../redacted-ending.test-kit.ts';
import { requirement } from '../../../../../test/requirement.ts';

function present(ending: GatewayEnding) {
  const { status, body } = presentToolResult(redactedEnding(ending), nowMs + 7);
  return { status, ...assertDescribed('ToolResult', body) } as Record<string, unknown>;
}

const ids = { request_id: 'r-1', call_id: callOf().callId, trace_id: '4bf92f3577b34da6a3ce929d0e0e4736' };

test('a success is its output, with what was measured', () => {
  requirement('WIRE-8');
  const execution = {
    result: { ok: true, output: 1 },
    usage: { cpuMs: 1.5, bytesRead: 7 },
    beforeImages: [],
    hasBegun: false,
  } as const;
  assert.deepEqual(present(completed({ execution, warnings: ['Again?'], toolName: 'read_note' }, { lines: 1 })), {
    status: 200,
    tool_name: 'read_note',
    success: true,
    output: { lines: 1 },
    error: null,
    latency_ms: 7,
    metadata: { tool: 'notes.read', ...ids, warnings: ['Again?'], usage: { cpu_ms: 1.5, bytes_read: 7 } },
  });
});

test('an output is text or an object, and anything else its JSON text', () => {
  const outputs = ['text', { a: [1] }, [1, 'a'], 7, null].map((output) => present(completed({}, output))['output']);
  assert.deepEqual(outputs, ['text', { a: [1] }, '[1,"a"]', '7', 'null']);
});

test('an output that is too large for an answer is named in its place, with how to get it', () => {
  const kept = { hash: 'ab'.repeat(32), sizeBytes: 2_000_000 };
  const outcome = { ok: true, outputJson: '', kept, summary: '' } as const;
  const { output } = present(completed({ outcome })) as { readonly output: Record<string, unknown> };
  assert.deepEqual([output['result_hash'], output['result_size']], [kept.hash, kept.sizeBytes]);
  assert.match(String(output['note']), /content\.get/);
});

test('a trace id of the caller stands beside ours', () => {
  const { metadata } = present(completed({ callerTraceId: 'order 66' })) as { readonly metadata: object };
  assert.deepEqual(metadata, { ...metadata, trace_id: ids.trace_id, caller_trace_id: 'order 66' });
});

test('a denial names rule, code and remedy, with the status of the code', () => {
  const violations = [{ field: 'path', rule: 'required', message: 'path is required' }];
  const refusal = refuse('INVALID_ARGUMENTS', 'input-schema', 'They do not fit.', { violations, remedy: 'See.' });
  assert.deepEqual(present(refused(refusal, 'check-arguments', { ...callOf(), traceId: ids.trace_id })), {
    status: 400,
    tool_name: 'notes.read',
    success: false,
    output: {},
    error: 'They do not fit.',
    latency_ms: 7,
    metadata: {
      tool: 'notes.read',
      ...ids,
      code: 'INVALID_ARGUMENTS',
      category: 'validation_failed',
      retryable: false,
      rule_id: 'input-schema',
      remedy: 'See.',
      violations,
    },
  });
});

test('a call that needs a person did not succeed, and shows what they would agree to', () => {
  const approval = { binding: 'b'.repeat(64), effect: '-old\n+new' };
  const pending = present(refused(refuse('APPROVAL_REQUIRED', 'ask', 'Ask.', { approval }), 'seek-approval', callOf()));
  assert.deepEqual([pending['status'], pending['success']], [400, false]);
  assert.deepEqual((pending['metadata'] as { approval: unknown }).approval, approval);
});

test('failures, limits and faults keep their codes, and each its status', () => {
  const limited = refuse('RATE_LIMITED', 'rate-limit-60s', 'Too many.', { retryAfterMs: 1500 });
  const seen = [
    failed(new ToolFailure('NOT_FOUND', 'Gone.')),
    failed(new ToolFailure('TIMEOUT', 'Too slow.')),
    refused(limited, 'admit-call', callOf()),
    refused(refuse('UNAUTHENTICATED', 'credential', 'Who?'), 'open-session', callOf()),
    faulted(new Error('secret'), 'execute-tool', callOf()),
  ].map((ending) => {
    const { status, success, error, metadata } = present(ending);
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
