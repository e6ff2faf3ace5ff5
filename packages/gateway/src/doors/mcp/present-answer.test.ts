import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '@sallyport/contract';
import { Fault } from '../../call/fault.ts';
import { refuse } from '../../call/refusal.ts';
import type { Refusal } from '../../call/refusal.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { ToolDefinition } from '../../call/tool.ts';
import { callOf, nowMs } from '../../stages/facts.test-kit.ts';
import { presentAnswer } from './present-answer.ts';
import { answerOf } from '../../daemon/answer-call.test-kit.ts';

const call = { ...callOf({ toolName: 'notes.read' }), traceId: 'a'.repeat(32), warnings: [] };
const execution = { usage: {}, changes: [] };
const parts = { linkToTask: (id: string) => `http://gate/#/approvals/${id}` };

function present(ending: object) {
  const result = presentAnswer(answerOf(ending, nowMs), parts);
  const { _meta: meta } = result;
  const [first] = result.content;
  return { result, text: first?.type === 'text' ? first.text : '', facts: meta?.['sallyport/call'] as object };
}

const refused = (refusal: Refusal) => present({ kind: 'refused', call, refusal, stage: 'test' });

function completed(output: Json, definition: Partial<ToolDefinition>) {
  const outcome = { ok: true, outputJson: JSON.stringify(output), summary: '' };
  const tool = { definition: { name: 'notes.read', outputSchema: {}, ...definition } };
  return present({ kind: 'completed', call: { ...call, tool, outcome, execution } });
}

test('a denial names code, rule and remedy, and is a result that models read', () => {
  const { result, text, facts } = refused(
    refuse('RULE_DENIES', { id: 'no-secrets', file: 'tools.yaml', line: 7 }, 'No.', { remedy: 'Ask for less.' }),
  );
  assert.equal(result.isError, true);
  assert.equal(
    text,
    `Denied (RULE_DENIES, rule no-secrets): No. (tools.yaml:7)\nWhat to do: Ask for less.\nCall ${call.callId}.`,
  );
  assert.deepEqual(facts, {
    request_id: 'r-1',
    call_id: call.callId,
    trace_id: 'a'.repeat(32),
    tool: 'notes.read',
    code: 'RULE_DENIES',
    retryable: false,
    rule_id: 'no-secrets',
    remedy: 'Ask for less.',
  });
});

test('what may succeed later says so, and after how long', () => {
  const { text } = refused(refuse('RATE_LIMITED', 'rates', 'Too many.', { retryAfterMs: 1500 }));
  assert.match(text, /The same call may succeed later, after 2 s\./);
});

test('remedies speak of what a client of MCP has', () => {
  const { text } = refused(refuse('UNKNOWN_TOOL', 'registry', 'None.', { remedy: 'Use ListAvailableTools.' }));
  assert.match(text, /What to do: Call one of the tools that tools\/list shows\./);
});

test('a call that waits for a person names the link, the end and how to go on', () => {
  const approval = { binding: '', effect: '', taskId: 't-1', status: 'pending', expiresAtMs: nowMs } as const;
  const { result, text, facts } = refused(refuse('APPROVAL_REQUIRED', 'ask', 'A person decides.', { approval }));
  assert.equal(result.isError, true);
  assert.match(text, /It has not run\. A person decides at http:\/\/gate\/#\/approvals\/t-1 until 2030-01-01T/);
  assert.match(text, /make the same call again/);
  assert.match(text, /_meta\["sallyport\/approval_task_id"\] = "t-1"/);
  assert.equal((facts as { approval: { url: string } }).approval.url, 'http://gate/#/approvals/t-1');
});

test('a failure of the tool and a fault of the gate are told apart, and a fault shows nothing of its cause', () => {
  const failed = present({
    kind: 'completed',
    call: { ...call, execution, outcome: { ok: false, failure: new ToolFailure('NOT_FOUND', 'No such file.') } },
  });
  assert.match(failed.text, /^Failed \(NOT_FOUND\): No such file\.\nCall /);
  const faulted = present({
    kind: 'faulted',
    call,
    fault: new Fault('INTERNAL', 'the disk at /secret'),
    stage: 'test',
  });
  assert.match(faulted.text, /^Failed \(INTERNAL\)/);
  assert.ok(!JSON.stringify(faulted.result).includes('/secret'));
  assert.equal(faulted.text.split(call.callId).length, 2, 'the call is named once');
});

test('an object that the tool promises is structured content, and text for older clients', () => {
  const { result, text } = completed({ a: 1 }, { outputSchema: { type: 'object' } });
  assert.deepEqual(result.structuredContent, { a: 1 });
  assert.equal(text, '{"a":1}');
  assert.equal(completed('words', {}).text, 'words');
  assert.equal(completed([1], {}).result.structuredContent, undefined);
});

test('what an upstream server says in the words of MCP passes as it is, and nothing else of it', () => {
  const content = [{ type: 'image', data: 'AA==', mimeType: 'image/png' }];
  const native = completed({ content, isError: true, resultType: 'input_required' }, { origin: 'upstream' });
  assert.deepEqual(native.result.content, content);
  assert.ok(!('isError' in native.result) && !('resultType' in native.result));
  // Where the server promised an object, that object may well have a member of this name.
  const promised = completed({ content }, { origin: 'upstream', outputSchema: { type: 'object' } });
  assert.deepEqual(promised.result.structuredContent, { content });
  assert.equal(completed({ content }, {}).text, JSON.stringify({ content }), 'other tools only look like it');
  assert.equal(completed({ content: [{ type: 'strange' }] }, { origin: 'upstream' }).result.content[0]?.type, 'text');
});
