import assert from 'node:assert/strict';
import { test } from 'node:test';
import { completed, failed, faulted, refused } from '../../closers/ending.test-kit.ts';
import type { GatewayEnding } from '../../gateway.ts';
import { refuse } from '../../call/refusal.ts';
import { ToolFailure } from '../../call/tool.ts';
import { callOf, nowMs, toolOf } from '../../stages/facts.test-kit.ts';
import { assertDescribed } from './openapi.test-kit.ts';
import { presentExecutionResult } from './present-execution-result.ts';
import { redactedEnding } from '../redacted-ending.test-kit.ts';
import { requirement } from '../../../../../test/requirement.ts';

function present(ending: GatewayEnding) {
  const { status, body } = presentExecutionResult(redactedEnding(ending), nowMs + 7);
  const read = assertDescribed('ToolExecutionResult', body);
  return { httpStatus: status, ...read, metadata: read['metadata'] as Record<string, unknown> } as {
    readonly [field: string]: unknown;
    readonly metadata: Record<string, unknown>;
  };
}

const ids = { tool: 'notes.read', callId: callOf().callId, traceId: '4bf92f3577b34da6a3ce929d0e0e4736' };

test('a success is its data, how long the tool ran, and who agreed', () => {
  requirement('WIRE-8');
  const usage = { cpuMs: 1.5, peakMemoryBytes: 4096, networkConnections: 2, bytesRead: 7 };
  const execution = { result: { ok: true, output: 1 }, usage, beforeImages: [], hasBegun: false } as const;
  const consent = { by: 'olga', how: 'own-call-confirmed', atMs: nowMs, binding: 'b' } as const;
  const given = { execution, consent, activeMs: 3, warnings: ['Again?'], taskId: 'task' };
  assert.deepEqual(present(completed(given, [1, 'a'])), {
    httpStatus: 200,
    requestId: 'r-1',
    status: 'success',
    data: [1, 'a'],
    metadata: {
      executionTime: 3,
      resourceUsage: { cpuTime: 1.5, memoryPeak: 4096, networkCalls: 2 },
      approvedBy: 'olga',
      approvedAt: '2030-01-01T00:00:00.000Z',
      ...ids,
      context: { taskId: 'task', correlationId: '' },
      warnings: ['Again?'],
    },
    executedAt: '2030-01-01T00:00:00.007Z',
  });
});

test('what was not measured is not claimed to be zero', () => {
  const execution = {
    result: { ok: true, output: 1 },
    usage: { cpuMs: 2 },
    beforeImages: [],
    hasBegun: false,
  } as const;
  const online = toolOf({ scopes: ['network'] });
  assert.deepEqual(present(completed({ execution, tool: online })).metadata['resourceUsage'], { cpuTime: 2 });
  // A tool of the gate without a way to the network has made no connection.
  const offline = present(completed({ execution }));
  assert.deepEqual(offline.metadata['resourceUsage'], { cpuTime: 2, networkCalls: 0 });
  const denied = present(refused(refuse('RULE_DENIES', 'no', 'No.'), 'judge-call', callOf()));
  assert.deepEqual(denied.metadata['resourceUsage'], {});
  assert.equal(denied.metadata['executionTime'], 0);
});

test('a denial is a failure that names rule, code and remedy', () => {
  const violations = [{ field: 'path', rule: 'required', message: 'path is required' }];
  const refusal = refuse('INVALID_ARGUMENTS', 'input-schema', 'They do not fit.', { violations, remedy: 'See.' });
  const denied = present(refused(refusal, 'check-arguments', { ...callOf(), traceId: ids.traceId }));
  assert.deepEqual(denied, {
    httpStatus: 400,
    requestId: 'r-1',
    status: 'failure',
    error: 'They do not fit.',
    metadata: {
      executionTime: 0,
      resourceUsage: {},
      ...ids,
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

test('a call that needs a person is pending, which is no failure', () => {
  const approval = { binding: 'b'.repeat(64), effect: '-old\n+new' };
  const needs = (more: object) => refused(refuse('APPROVAL_REQUIRED', 'ask', 'Ask.', more), 'seek-approval', callOf());
  const shown = present(needs({ approval, remedy: 'Look.' }));
  assert.deepEqual([shown['httpStatus'], shown['status'], shown['error']], [202, 'pending_approval', undefined]);
  const { reason, remedy, approvalTaskId, approval: given } = shown.metadata;
  assert.deepEqual([reason, remedy, approvalTaskId, given], ['Ask.', 'Look.', approval.binding, approval]);
  // Whoever may not look at the effect has nothing to refer to.
  const hidden = present(needs({}));
  assert.equal(hidden['status'], 'pending_approval');
  assert.equal('approvalTaskId' in hidden.metadata, false);
});

test('failures, limits and faults keep their codes, and each its status', () => {
  const limited = refuse('RATE_LIMITED', 'rate-limit-60s', 'Too many.', { retryAfterMs: 1500 });
  const mismatch = refuse('APPROVAL_MISMATCH', 'ask', 'Changed.', { approval: { binding: 'b', effect: 'e' } });
  const seen = [
    failed(new ToolFailure('NOT_FOUND', 'Gone.')),
    refused(limited, 'admit-call', callOf()),
    refused(mismatch, 'seek-approval', callOf()),
    faulted(new Error('secret'), 'execute-tool', callOf()),
  ].map((ending) => {
    const { httpStatus, status, error, data, metadata } = present(ending);
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
