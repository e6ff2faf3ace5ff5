import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { requirement } from '../../../../test/requirement.ts';
import type { Begun, Decoded } from '../call/call.ts';
import { isRefusal } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import { Redactor } from '../redaction/redact.ts';
import { decodeCall } from './decode-call.ts';
import { assertPassed, assertRefused, callOf, clock, parentOf, runStage } from './facts.test-kit.ts';

const heldKey = 'feedc0ffee0123456789abcdeffeed99';
const stage = decodeCall(new Redactor([heldKey]));
const decode = (more: Partial<Begun>) => runStage(stage, callOf(more), clock) as Decoded | Refusal;

const wrongShape = {
  code: 'MALFORMED_CALL',
  rule: 'call-shape',
  remedy: 'Send the call in the documented form.',
} as const;

test('a call becomes its request id and its trace', () => {
  requirement('PIPE-5');
  const decoded = assertPassed(decode({ requestId: 'mine' }));
  assert.equal(decoded.requestId, 'mine');
  assert.match(decoded.traceId, /^[0-9a-f]{32}$/);
});

test('who chooses no request id gets one', () => {
  const decoded = assertPassed(decode({ requestId: '' }));
  assert.match(decoded.requestId, /^[0-9a-f-]{14}7[0-9a-f-]{21}$/);
});

const identifiers = [
  ['toolName', 'name'],
  ['requestId', 'request_id'],
  ['dedupeKey', 'dedupe_key'],
  ['taskId', 'context.task_id'],
  ['correlationId', 'context.correlation_id'],
  ['confirmBinding', 'confirm_binding'],
] as const;

for (const [member, field] of identifiers) {
  test(`${field} holds 256 bytes, however many characters they are, and no more`, () => {
    for (const inside of ['x'.repeat(256), 'é'.repeat(128), '😀'.repeat(64)]) {
      assertPassed(decode({ [member]: inside }));
    }
    for (const outside of ['x'.repeat(257), 'é'.repeat(129), '😀'.repeat(64) + 'x']) {
      const refusal = assertRefused(decode({ [member]: outside }), wrongShape);
      assert.deepEqual(refusal.violations, [
        { field, rule: 'max_length', message: `${field} is longer than 256 bytes` },
      ]);
    }
  });

  test(`${field} with half a surrogate pair is refused`, () => {
    for (const broken of ['\ud800', 'a\udc00b']) {
      const refusal = assertRefused(decode({ [member]: broken }), wrongShape);
      assert.deepEqual(refusal.violations, [{ field, rule: 'utf8', message: `${field} is not valid Unicode` }]);
    }
  });
}

test('a call must name a tool', () => {
  const refusal = assertRefused(decode({ toolName: '' }), wrongShape);
  assert.deepEqual(refusal.violations, [{ field: 'name', rule: 'required', message: 'name is required' }]);
});

test('the time limit goes up to one hour and is a whole number', () => {
  for (const timeoutMs of [0, 1, 3_600_000]) assertPassed(decode({ timeoutMs }));
  for (const [timeoutMs, rule] of [
    [3_600_001, 'max'],
    [Infinity, 'max'],
    [-1, 'min'],
    [0.5, 'min'],
    [Number.NaN, 'min'],
  ] as const) {
    const refusal = assertRefused(decode({ timeoutMs }), wrongShape);
    assert.deepEqual(
      refusal.violations?.map((violation) => [violation.field, violation.rule]),
      [['timeout_ms', rule]],
    );
  }
});

test('every violation is named at once, in the message too', () => {
  requirement('PIPE-4');
  const long = 'x'.repeat(300);
  const refusal = assertRefused(decode({ toolName: '', requestId: long, timeoutMs: 1e9 }), wrongShape);
  assert.deepEqual(
    refusal.violations?.map(({ field }) => field),
    ['request_id', 'name', 'timeout_ms'],
  );
  for (const { message } of refusal.violations ?? []) assert.ok(refusal.message.includes(message), message);
});

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';

test('a valid traceparent continues its trace', () => {
  for (const traceparent of [
    `00-${traceId}-${parentId}-01`,
    `00-${traceId}-${parentId}-00`,
    `01-${traceId}-${parentId}-01`,
    `cc-${traceId}-${parentId}-01-what-the-future-brings`,
  ]) {
    assert.equal(assertPassed(decode({ traceparent })).traceId, traceId, traceparent);
  }
});

test('a step is in the trace of its parent', () => {
  const step = { id: 'read', parent: parentOf() };
  const call = { ...callOf({ traceparent: `00-${'ab'.repeat(16)}-${parentId}-01` }), step };
  assert.equal(assertPassed(runStage(stage, call, clock) as Decoded).traceId, parentOf().traceId);
});

test('a traceparent that is not valid begins a new trace', () => {
  for (const traceparent of [
    '',
    'garbage',
    `ff-${traceId}-${parentId}-01`,
    `00-${traceId}-${parentId}-01-more`,
    `00-${traceId}-${parentId}-01x`,
    `cc-${traceId}-${parentId}-01more`,
    `00-${'0'.repeat(32)}-${parentId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${parentId}-01`,
    ` 00-${traceId}-${parentId}-01`,
  ]) {
    const decoded = assertPassed(decode({ traceparent }));
    assert.match(decoded.traceId, /^[0-9a-f]{32}$/);
    assert.notEqual(decoded.traceId, traceId, traceparent);
  }
});

test('whatever a caller sends, the stage answers and does not throw', () => {
  const text = fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units));
  const call = fc.record({ toolName: text, requestId: text, traceparent: text });
  fc.assert(fc.property(call, (more) => isRefusal(decode(more)) || 'traceId' in decode(more)));
});

test('what the caller says of its span is kept, and a step belongs to the span of its parent', () => {
  const decoded = assertPassed(decode({ traceparent: `00-${traceId}-${parentId}-00` }));
  assert.deepEqual([decoded.callerSpan?.spanId, decoded.callerSpan?.isSampled], [parentId, false]);
  assert.equal(assertPassed(decode({})).callerSpan, undefined);
  const parent = parentOf({ traceparent: `00-${parentOf().traceId}-${'cd'.repeat(8)}-01` });
  const step = { ...callOf({ traceparent: `00-${traceId}-${parentId}-00` }), step: { id: 's', parent } };
  assert.equal(assertPassed(runStage(stage, step, clock) as Decoded).callerSpan?.spanId, 'cd'.repeat(8));
});

test('a trace id that is a secret of the gate begins another trace', () => {
  requirement('AUD-4');
  const decoded = assertPassed(decode({ traceparent: `00-${heldKey}-${parentId}-01` }));
  assert.notEqual(decoded.traceId, heldKey);
  assert.equal(decoded.callerSpan, undefined);
});
