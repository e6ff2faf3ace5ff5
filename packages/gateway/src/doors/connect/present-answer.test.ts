import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, toBinary, toJson } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { ExecuteToolResponseSchema, ExecuteToolsResponseSchema } from '@sallyport/contract';
import type { ExecuteToolResponse } from '@sallyport/contract';
import { requirement } from '../../../../../test/requirement.ts';
import { completed, failed, faulted, refused } from '../../closers/ending.test-kit.ts';
import type { CallEnding } from '../../call/stage.ts';
import { Fault } from '../../call/fault.ts';
import { refuse } from '../../call/refusal.ts';
import { ToolFailure } from '../../call/tool.ts';
import { callOf, nowMs, sessionOf } from '../../stages/facts.test-kit.ts';
import { encodeSuccess, numberSuccess } from './encode-success.ts';
import { presentAnswer, writeSuccess } from './present-answer.ts';
import { answerOf } from '../../daemon/answer-call.test-kit.ts';

/** As a client reads it: every answer must survive both encodings. */
function present(ending: CallEnding, endedAtMs = nowMs + 7): ExecuteToolResponse {
  const response = presentAnswer(answerOf(ending, endedAtMs));
  assert.ok(toBinary(ExecuteToolResponseSchema, response).length > 0);
  assert.equal(typeof toJson(ExecuteToolResponseSchema, response), 'object');
  return response;
}

function deniedOf(response: ExecuteToolResponse) {
  return response.result.case === 'denied' ? response.result.value : assert.fail(`it is ${response.result.case}`);
}

function errorOf(response: ExecuteToolResponse) {
  return response.result.case === 'error' ? response.result.value : assert.fail(`it is ${response.result.case}`);
}

test('every answer carries the ids of its request, and how long it took', () => {
  requirement('PIPE-5');
  const named = { requestId: 'mine', taskId: 'task', correlationId: 'thread' };
  for (const ending of [
    completed(named),
    failed(new ToolFailure('NOT_FOUND', 'Gone.'), named),
    refused(refuse('RULE_DENIES', 'no', 'No.'), 'judge-call', completed(named).call),
    faulted(new Error('bug'), 'execute-tool', completed(named).call),
  ]) {
    const response = present(ending);
    assert.equal(response.requestId, 'mine');
    assert.equal(response.callId, callOf().callId);
    assert.equal(response.traceId, '4bf92f3577b34da6a3ce929d0e0e4736');
    assert.equal(response.tool, 'notes.read');
    assert.equal(response.durationMs, 7n);
    assert.equal(response.context?.taskId, 'task');
    assert.equal(response.context.correlationId, 'thread');
  }
});

test('a success is its output as it was delivered, with warnings and what was measured', () => {
  const execution = {
    result: { ok: true, output: 1 },
    usage: { cpuMs: 1.5, bytesRead: 7 },
    changes: [],
    hasBegun: false,
  } as const;
  const { result, usage, warnings } = present(completed({ execution, warnings: ['Again?'] }, { lines: 1 }));
  assert.ok(result.case === 'success');
  assert.equal(result.value.outputJson, '{"lines":1}');
  assert.deepEqual(warnings, ['Again?']);
  assert.deepEqual(
    [usage?.cpuMs, usage?.bytesRead, usage?.bytesWritten, usage?.peakMemoryBytes],
    [1.5, 7n, undefined, undefined],
  );
});

test('a denial carries rule, code, message, remedy and violations', () => {
  requirement('PIPE-4');
  const violations = [{ field: 'path', rule: 'required', message: 'path is required' }];
  const refusal = refuse('INVALID_ARGUMENTS', 'input-schema', 'They do not fit.', { violations, remedy: 'See.' });
  const denied = deniedOf(present(refused(refusal, 'check-arguments', callOf())));
  assert.equal(denied.ruleId, 'input-schema');
  assert.equal(denied.rationaleCode, 'INVALID_ARGUMENTS');
  assert.equal(denied.message, 'They do not fit.');
  assert.equal(denied.remedy, 'See.');
  assert.deepEqual(
    denied.violations.map(({ field, rule, message }) => ({ field, rule, message })),
    violations,
  );
  assert.equal(denied.approval, undefined);
});

test('a denial by a rule points to its file and line', () => {
  requirement('PIPE-4');
  const rule = { id: 'no-ssh', file: 'tools.yaml', line: 12 };
  const denied = deniedOf(present(refused(refuse('RULE_DENIES', rule, 'Keys stay.'), 'judge-call', callOf())));
  assert.equal(denied.message, 'Keys stay. (tools.yaml:12)');
});

test('a call that a person could let through says what they would agree to', () => {
  const approval = { binding: 'b'.repeat(64), effect: '-old\n+new' };
  const refusal = refuse('APPROVAL_REQUIRED', 'ask', 'Ask.', { approval });
  const denied = deniedOf(present(refused(refusal, 'seek-approval', callOf())));
  assert.equal(denied.approval?.binding, approval.binding);
  assert.equal(denied.approval.effect, approval.effect);
});

test('over the limit is an error that may be tried again, and says when', () => {
  const refusal = refuse('RATE_LIMITED', 'rate-limit-60s', 'Too many.', { remedy: 'Wait.', retryAfterMs: 1500.2 });
  const error = errorOf(present(refused(refusal, 'admit-call', callOf())));
  assert.equal(error.code, 'RATE_LIMITED');
  assert.equal(error.message, 'Too many. Wait.');
  assert.equal(error.retryable, true);
  assert.equal(error.retryAfterMs, 1501n);
  assert.equal(error.category, 'resource_exhaustion');
});

test('a wait that lies in the past, or none, is no wait', () => {
  for (const more of [{ retryAfterMs: -5 }, {}]) {
    const refusal = refuse('STANDING_CHANGED', 'standing', 'The rules changed.', more);
    const error = errorOf(present(refused(refusal, 'confirm-standing', callOf())));
    assert.equal(error.retryAfterMs, 0n);
    assert.equal(error.message, 'The rules changed.');
  }
});

test('a failure of the tool keeps its code and message; its own category beats the usual one', () => {
  const plain = errorOf(present(failed(new ToolFailure('TIMEOUT', 'Too slow.'))));
  assert.deepEqual(
    [plain.code, plain.message, plain.category, plain.retryable],
    ['TIMEOUT', 'Too slow.', 'timeout', false],
  );
  const own = new ToolFailure('EXECUTION_ERROR', 'No memory.', { category: 'resource_exhaustion' });
  assert.equal(errorOf(present(failed(own))).category, 'resource_exhaustion');
});

test('a fault shows its code and the call, and nothing of its cause', () => {
  requirement('AUD-4');
  const cause = new Error('secret in the cause');
  for (const fault of [new Error('secret inside', { cause }), new Fault('INTERNAL', 'secret inside', { cause })]) {
    const error = errorOf(present(faulted(fault, 'execute-tool', { ...callOf(), session: sessionOf() })));
    assert.equal(error.code, 'INTERNAL');
    assert.equal(
      error.message,
      `Sallyport itself failed; the log has the details. If a person should look at it, give them call ${callOf().callId}.`,
    );
  }
  const unrecorded = errorOf(present(faulted(new Fault('OUTCOME_UNRECORDED', 'secret'), 'record-outcome', callOf())));
  assert.equal(unrecorded.code, 'OUTCOME_UNRECORDED');
  assert.ok(!unrecorded.message.includes('secret'));
});

test('a sealed gate denies, and says to an operator where to look', () => {
  const session = sessionOf({ principal: 'operator' });
  const sealedFor = (call: object) =>
    deniedOf(present(faulted(new Fault('SEALED', 'disk /dev/secret'), 'admit-call', { ...callOf(), ...call })));
  const sealed = sealedFor({ session });
  assert.doesNotMatch(sealedFor({ session: sessionOf() }).remedy, /sallyport/);
  assert.equal(sealed.ruleId, 'gate');
  assert.equal(sealed.rationaleCode, 'SEALED');
  assert.match(sealed.remedy, /sallyport status/);
  assert.ok(!sealed.message.includes('/dev/secret'));
});

test('whatever the caller sent, the answer can be sent back', () => {
  requirement('PIPE-5');
  const odd = callOf({ requestId: 'lone \ud800', toolName: `${'n'.repeat(255)}😀`, startedAtMs: nowMs + 5000 });
  const response = present(refused(refuse('MALFORMED_CALL', 'call-shape', 'No.'), 'decode-call', odd), nowMs);
  assert.equal(response.durationMs, 0n);
  assert.ok(response.tool.length <= 256);
  assert.equal(present(refused(refuse('MALFORMED_CALL', 'call-shape', 'No.'), 'decode-call', {})).requestId, '');
});

test('a success that is written without a message says the same as one that is written with it', () => {
  const text = fc.oneof(fc.constant(''), fc.string({ unit: 'binary' }), fc.string({ minLength: 30, maxLength: 400 }));
  const count = fc.nat({ max: 2 ** 31 - 1 });
  const usage = fc.record(
    {
      measuredBy: fc.constantFrom('cgroup', 'rusage', 'sampled'),
      cpuMs: fc.double({ min: 0, max: 1e9, noNaN: true }),
      peakMemoryBytes: fc.nat({ max: 2 ** 50 }),
      networkConnections: count,
      bytesRead: fc.nat({ max: 2 ** 50 }),
      bytesWritten: count,
      tokens: count,
      costMicros: count,
    },
    { requiredKeys: [] },
  );
  const success = answerOf(completed({}, { lines: 1 }), nowMs + 7);
  const varied = fc.record({
    ...{ requestId: text, callId: text, traceId: text, taskId: text, correlationId: text, activeMs: count },
    ...{ usage: fc.option(usage, { nil: undefined }), isReused: fc.boolean(), warnings: fc.array(text) },
    ...{ endedAtMs: fc.nat().map((ms) => nowMs + ms), output: text.map((outputJson) => ({ outputJson, summary: '' })) },
  });
  fc.assert(
    fc.property(varied, fc.nat({ max: 2 ** 32 - 1 }), (more, number) => {
      const answer = { ...success, ...more };
      const written = writeSuccess(answer) ?? assert.fail('it is a success');
      assert.deepEqual(
        JSON.parse(written),
        JSON.parse(JSON.stringify(toJson(ExecuteToolResponseSchema, presentAnswer(answer)))),
      );
      const encoded = encodeSuccess(answer) ?? assert.fail('it is a success');
      const value = presentAnswer(answer);
      assert.deepEqual(new Uint8Array(encoded), toBinary(ExecuteToolResponseSchema, value));
      const numbered = create(ExecuteToolsResponseSchema, { number, result: { case: 'response', value } });
      assert.deepEqual(new Uint8Array(numberSuccess(number, encoded)), toBinary(ExecuteToolsResponseSchema, numbered));
    }),
  );
});

test('only a success that is in the answer is written without a message', () => {
  const kept = { hash: 'ab'.repeat(32), sizeBytes: 9 };
  const answer = answerOf(completed({}, { lines: 1 }), nowMs);
  const { output = assert.fail() } = answer;
  for (const other of [
    { ...answer, output: { ...output, kept } },
    answerOf(failed(new ToolFailure('NOT_FOUND', 'Gone.'), {}), nowMs),
    answerOf(refused(refuse('RULE_DENIES', 'no', 'No.'), 'judge-call', completed({}).call), nowMs),
    answerOf(faulted(new Error('bug'), 'execute-tool', completed({}).call), nowMs),
  ]) {
    assert.equal(writeSuccess(other), undefined);
    assert.equal(encodeSuccess(other), undefined);
  }
});
