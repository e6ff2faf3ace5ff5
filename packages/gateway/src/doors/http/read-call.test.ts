import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalJson } from '@sallyport/contract';
import type { JsonObject } from '@sallyport/contract';
import fc from 'fast-check';
import { requirement } from '../../../../../test/requirement.ts';
import { parseCall } from './read-call.ts';

const parse = (body: unknown) => parseCall(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));

function assertMalformed(body: unknown, message: RegExp): void {
  assert.throws(() => parse(body), { code: 'invalid_argument', message });
}

test('tool_name is the one form', () => {
  const { form, request, claimedAgent, traceparent } = parse({
    tool_name: 'files.read',
    arguments: { path: 'a', depth: 1 },
    request_id: 'mine',
    timeout_ms: 500,
    dedupe_key: 'once',
    confirm_binding: 'seen',
  });
  assert.equal(form, 'tool-result');
  const { parsedInput, ...sent } = request;
  assert.equal(canonicalJson(parsedInput), sent.inputJson);
  assert.deepEqual(sent, {
    name: 'files.read',
    inputJson: '{"depth":1,"path":"a"}',
    requestId: 'mine',
    timeoutMs: 500,
    dedupeKey: 'once',
    confirmBinding: 'seen',
  });
  assert.deepEqual([claimedAgent, traceparent], [undefined, undefined]);
});

test('what a remedy says to send is read in both forms', () => {
  const sent = { approval_task_id: 'task', confirm_token: 'token', wait_ms: 500 };
  const wanted = { approvalTaskId: 'task', confirmToken: 'token', waitMs: 500 };
  for (const name of ['tool_name', 'toolName']) {
    const { approvalTaskId, confirmToken, waitMs } = parse({ [name]: 'files.read', ...sent }).request;
    assert.deepEqual({ approvalTaskId, confirmToken, waitMs }, wanted, name);
  }
  assert.deepEqual(parse({ toolName: 'files.read', ...wanted }).request.approvalTaskId, 'task');
});

test('toolName is the other form', () => {
  const { form, request, claimedAgent } = parse({
    id: 'mine',
    agentId: 'ada',
    toolName: 'files.read',
    arguments: { path: 'a' },
    context: { taskId: 'task', correlationId: 'thread' },
    requestedAt: '2030-01-01T00:00:00.000Z',
    timeoutMs: 500,
    dedupeKey: 'once',
    confirmBinding: 'seen',
  });
  assert.equal(form, 'execution-result');
  const { parsedInput: _, ...sent } = request;
  assert.deepEqual(sent, {
    name: 'files.read',
    inputJson: '{"path":"a"}',
    requestId: 'mine',
    timeoutMs: 500,
    dedupeKey: 'once',
    confirmBinding: 'seen',
    context: { taskId: 'task', correlationId: 'thread' },
  });
  assert.equal(claimedAgent, 'ada');
});

test('both names, or neither, are refused with what to do', () => {
  assertMalformed({ tool_name: 'a', toolName: 'a' }, /as "tool_name" or as "toolName"; the body has both/);
  assertMalformed({ name: 'a' }, /the body has neither/);
  // No inherited name counts as given.
  assertMalformed('{"__proto__":{"tool_name":"a"}}', /the body has neither/);
});

test('what is optional may be absent or null, and what is unknown is passed over', () => {
  const absent = { name: 'a', inputJson: '', requestId: '', timeoutMs: 0, dedupeKey: '', confirmBinding: '' };
  assert.deepEqual(parse({ tool_name: 'a', model: 'x' }).request, absent);
  const nulls = { request_id: null, timeout_ms: null, dedupe_key: null, trace_ctx: null, confirm_binding: null };
  assert.deepEqual(parse({ tool_name: 'a', ...nulls }), { form: 'tool-result', request: absent });
  const context = { taskId: '', correlationId: '' };
  const execution = { form: 'execution-result', request: { ...absent, context } };
  assert.deepEqual(parse({ toolName: 'a' }), execution);
  assert.deepEqual(parse({ toolName: 'a', id: null, agentId: null, context: null, requestedAt: null }), execution);
});

test('a field of another type is named', () => {
  assertMalformed({ tool_name: 1 }, /^"tool_name" must be a string\.$/);
  assertMalformed({ tool_name: 'a', timeout_ms: '5' }, /^"timeout_ms" must be a number\.$/);
  assertMalformed({ tool_name: 'a', trace_ctx: [] }, /^"trace_ctx" must be an object\.$/);
  assertMalformed({ toolName: 'a', agentId: { not: 'ada' } }, /^"agentId" must be a string\.$/);
  assertMalformed({ toolName: 'a', context: { taskId: 7 } }, /^"taskId" must be a string\.$/);
  assertMalformed({ toolName: 'a', requestedAt: 7 }, /^"requestedAt" must be a string\.$/);
});

test('what two readers could understand differently is refused, at any depth', () => {
  requirement('NFR-4');
  assertMalformed('{"tool_name":"a","tool_name":"b"}', /stands twice/);
  assertMalformed('{"tool_name":"a","arguments":{"path":"a","p\\u0061th":"b"}}', /stands twice/);
  assertMalformed('{"tool_name":"a","arguments":{"n":9007199254740993}}', /would lose precision/);
  assertMalformed('{"tool_name":"a","arguments":{"n":"\\ud800"}}', /surrogate/);
  assertMalformed(`{"tool_name":"a","arguments":${'['.repeat(10_000)}`, /nested deeper/);
  assertMalformed(`{"tool_name":"a","arguments":[${'0,'.repeat(200_000)}0]}`, /more than 100000 parts/);
});

test('what is no JSON object is refused', () => {
  requirement('NFR-4');
  for (const body of ['[]', 'null', '"tool_name"', '7']) assertMalformed(body, /not a JSON object/);
  for (const body of ['', '{', '{"tool_name":"a"} x']) assertMalformed(body, /not acceptable JSON/);
  assert.throws(() => parseCall(Buffer.from([0x7b, 0xff, 0x7d])), { code: 'invalid_argument', message: /UTF-8/ });
});

test('arguments arrive in their one spelling, whatever they are', () => {
  const values = fc.jsonValue({ maxDepth: 3 }).map((value) => value as JsonObject);
  fc.assert(
    fc.property(values, (value) => {
      // Minus zero has no spelling of its own.
      const expected = canonicalJson(JSON.parse(JSON.stringify(value)) as JsonObject);
      assert.equal(parse({ tool_name: 'a', arguments: value }).request.inputJson, expected);
      assert.equal(parse({ toolName: 'a', arguments: value }).request.inputJson, expected);
    }),
  );
});

test('a trace in the body becomes trace context, also when it is written as a UUID', () => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const trace = (context: object) => parse({ tool_name: 'a', trace_ctx: context }).traceparent;
  assert.equal(trace({ trace_id: traceId, span_id: '00f067aa0ba902b7' }), `00-${traceId}-00f067aa0ba902b7-01`);
  assert.match(
    trace({ trace_id: '4BF92F35-77B3-4DA6-A3CE-929D0E0E4736' }) ?? '',
    new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`),
  );
  assert.equal(trace({ span_id: '00f067aa0ba902b7' }), undefined);
});
