import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseStrictJson } from '@sallyport/contract';
import { parseMessage } from './read-call.ts';

const parse = (body: unknown) => parseMessage(Buffer.from(JSON.stringify(body)));
const plainly = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test('a plan is its summary and its calls, each with arguments and a reason', () => {
  const message = parse({
    type: 'chat.assistant_plan',
    trace_id: '4BF92F35-77B3-4DA6-A3CE-929D0E0E4736',
    summary: 'Tidy up.',
    calls: [{ tool: 'files.delete', args: { path: 'a' }, reason: 'Old.' }, { tool: 'files.list' }],
    wait_ms: 5,
  });
  assert.deepEqual(plainly(message), {
    type: 'chat.assistant_plan',
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
    summary: 'Tidy up.',
    calls: [
      { tool: 'files.delete', arguments: { path: 'a' }, reason: 'Old.' },
      { tool: 'files.list', arguments: {} },
    ],
    waitMs: 5,
  });
});

test('one call stands in the message itself, several in a list, and a token holds for all', () => {
  const plain = { requestId: '', timeoutMs: 0, dedupeKey: '', confirmBinding: '' };
  const parsedInput = parseStrictJson('{"z":1,"b":2}');
  assert.deepEqual(parse({ type: 'tool.execute', tool: 'a', args: { z: 1, b: 2 }, call_id: '1', wait_ms: 7 }), {
    type: 'tool.execute',
    traceId: '',
    callerTraceId: '',
    calls: [{ ...plain, name: 'a', inputJson: '{"b":2,"z":1}', parsedInput, requestId: '1', waitMs: 7 }],
  });
  const { calls } = parse({
    type: 'tool.execute',
    confirm_token: 't',
    calls: [
      { tool: 'a', approval_task_id: 'task' },
      { tool: 'b', timeout_ms: 5, dedupe_key: 'k' },
    ],
  }) as Extract<ReturnType<typeof parse>, { type: 'tool.execute' }>;
  assert.deepEqual(calls, [
    { ...plain, name: 'a', inputJson: '', approvalTaskId: 'task', confirmToken: 't' },
    { ...plain, name: 'b', inputJson: '', timeoutMs: 5, dedupeKey: 'k', confirmToken: 't' },
  ]);
});

test('what is no message is refused with what to do', () => {
  for (const [body, message] of [
    [{}, /"type" must be/],
    [{ type: 'tool.results' }, /"type" must be/],
    [{ type: 'tool.execute' }, /Name the calls once/],
    [{ type: 'tool.execute', tool: 'a', calls: [{ tool: 'b' }] }, /Name the calls once/],
    [{ type: 'tool.execute', calls: ['a'] }, /"calls" must be a list of objects/],
    [{ type: 'tool.execute', calls: Array.from({ length: 51 }, () => ({ tool: 'a' })) }, /50 calls at most/],
    [{ type: 'tool.execute', tool: 'a', wait_ms: 1.5 }, /"wait_ms" must be a whole number/],
    [{ type: 'chat.assistant_plan', summary: 1 }, /"summary" must be a string/],
    [{ type: 'chat.assistant_plan', calls: [{ tool: 'a', args: [] }] }, /"args" must be an object/],
  ] as const) {
    assert.throws(() => parse(body), { code: 'invalid_argument', message }, JSON.stringify(body));
  }
});
