import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { ToolFailure } from '../../../packages/gateway/src/call/tool.ts';
import { openTestDoor } from './door-kit.ts';
import type { DoorOptions, TestDoor } from './door-kit.ts';
import { modernRequest, openLegacySession, revision, sendRaw } from './raw-client.ts';
import type { RawAnswer, RawMessage, RawRequest } from './raw-client.ts';
import { defineTestTool, endlessTool } from './test-tools.ts';

const tools = [
  defineTestTool({ name: 'test.echo', run: (args) => Promise.resolve({ args }) }),
  defineTestTool({
    name: 'test.structured',
    outputSchema: { type: 'object' },
    run: (args) => Promise.resolve({ args }),
  }),
  defineTestTool({ name: 'test.failing', run: () => Promise.reject(new ToolFailure('NOT_FOUND', 'It is not there.')) }),
  defineTestTool({ name: 'test.broken', run: () => Promise.reject(new Error('a bug with sk-secret in it')) }),
  defineTestTool({
    name: 'test.native',
    origin: 'upstream',
    run: () =>
      Promise.resolve({
        content: [
          { type: 'text', text: 'hello', extra: 1 },
          { type: 'image', data: 'aGk=', mimeType: 'image/png', extra: 1 },
        ],
        structuredContent: { a: 1 },
      }),
  }),
  defineTestTool({
    name: 'test.words',
    origin: 'upstream',
    run: () => Promise.resolve({ content: [{ type: 'text', text: 'only words' }] }),
  }),
  defineTestTool({
    name: 'test.odd',
    origin: 'upstream',
    run: () => Promise.resolve({ content: [{ type: 'text' }, 7] }),
  }),
];

interface Door extends TestDoor {
  readonly token: string;
  readonly session: string;
}

async function openDoor(t: TestContext, more: Partial<DoorOptions> = {}): Promise<Door> {
  const door = await openTestDoor(t, { tools, ...more });
  const token = door.setSession();
  return { ...door, token, session: await openLegacySession(door.url, token) };
}

/** The same door twice: one that answers plain requests itself, and one that leaves all of them to the SDK. */
async function openBoth(t: TestContext): Promise<readonly [Door, Door]> {
  return [await openDoor(t), await openDoor(t, { isPlain: false })];
}

function call(params: unknown, more: object = {}): object {
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params, ...more };
}

const echo = { name: 'test_echo', arguments: { a: 1, b: ['x'] } };

/** Messages of an older client, in its session. Those that are plain are answered without the SDK. */
const legacyMessages: Readonly<Record<string, readonly [message: unknown, 'plain' | 'sdk']>> = {
  'a call': [call(echo), 'plain'],
  'a call without arguments': [call({ name: 'test_echo' }), 'plain'],
  'a call whose id is a text': [call(echo, { id: 'seven' }), 'plain'],
  'a call whose id is zero': [call(echo, { id: 0 }), 'plain'],
  'a call that says something about itself': [
    call({ ...echo, _meta: { 'sallyport/task_id': 'task', 'sallyport/request_id': 'mine', progressToken: 7 } }),
    'plain',
  ],
  'a call that says something wrong about itself': [call({ ...echo, _meta: { 'sallyport/task_id': 7 } }), 'plain'],
  'a call with structured content': [call({ name: 'test_structured', arguments: { a: 1 } }), 'plain'],
  'a call that fails': [call({ name: 'test_failing' }), 'plain'],
  'a call that meets a bug': [call({ name: 'test_broken' }), 'plain'],
  'a call whose result has an image': [call({ name: 'test_native' }), 'plain'],
  'a call whose result is text': [call({ name: 'test_words' }), 'plain'],
  'a call whose result is not of the protocol': [call({ name: 'test_odd' }), 'plain'],
  'a ping': [{ jsonrpc: '2.0', id: 1, method: 'ping' }, 'plain'],
  'a ping with parameters': [{ jsonrpc: '2.0', id: 1, method: 'ping', params: {} }, 'sdk'],
  'a call of a tool that does not exist': [call({ name: 'test_missing', arguments: {} }), 'sdk'],
  'a call by its canonical name': [call({ name: 'test.echo', arguments: {} }), 'sdk'],
  'a call with a fraction as id': [call(echo, { id: 1.5 }), 'sdk'],
  'a call without an id': [{ jsonrpc: '2.0', method: 'tools/call', params: echo }, 'sdk'],
  'a call with null as id': [call(echo, { id: null }), 'sdk'],
  'a call of another JSON-RPC': [call(echo, { jsonrpc: '1.0' }), 'sdk'],
  'a call with a field that nobody knows': [call(echo, { extra: 1 }), 'sdk'],
  'a call with a parameter that nobody knows': [call({ ...echo, extra: 1 }), 'sdk'],
  'a call as a task': [call({ ...echo, task: { ttl: 1000 } }), 'sdk'],
  'a call without a name': [call({ arguments: {} }), 'sdk'],
  'a call whose name is a number': [call({ ...echo, name: 7 }), 'sdk'],
  'a call whose arguments are a list': [call({ ...echo, arguments: [] }), 'sdk'],
  'a call whose arguments are null': [call({ ...echo, arguments: null }), 'sdk'],
  'a call whose parameters are a list': [call([echo]), 'sdk'],
  'a call whose _meta is a list': [call({ ...echo, _meta: [] }), 'sdk'],
  'a call whose progress token is an object': [call({ ...echo, _meta: { progressToken: {} } }), 'sdk'],
  'a call of a task that went before': [
    call({ ...echo, _meta: { 'io.modelcontextprotocol/related-task': { taskId: 7 } } }),
    'sdk',
  ],
  'a batch of one': [[call(echo)], 'sdk'],
  'a batch with an id twice': [[call(echo), call(echo)], 'sdk'],
  'a list of tools': [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }, 'sdk'],
  'a method that nobody knows': [{ jsonrpc: '2.0', id: 1, method: 'tools/shout' }, 'sdk'],
  'a text': ['tools/call', 'sdk'],
};

for (const [what, [message, way]] of Object.entries(legacyMessages)) {
  test(`${what} of an older client is answered as the SDK answers it`, async (t) => {
    const doors = await openBoth(t);
    const [plain, sdk] = await Promise.all(doors.map((door) => sendInSession(door, { body: JSON.stringify(message) })));
    assert.deepEqual(described(plain), described(sdk));
    assert.deepEqual(doors[0].calls.map(recorded), doors[1].calls.map(recorded));
    if (way === 'plain') assert.equal(plain?.headers['content-type'], 'application/json', 'in one piece');
    else assert.equal(plain?.headers['content-type'], sdk?.headers['content-type']);
  });
}

const oddHeaders: Readonly<Record<string, Record<string, string>>> = {
  'a session that was made up': { 'mcp-session-id': 'made-up' },
  'an empty session': { 'mcp-session-id': '' },
  'a protocol version that nobody knows': { 'mcp-protocol-version': '1999-01-01' },
  'the version of the newer protocol': { 'mcp-protocol-version': revision },
  'a header of the newer protocol': { 'mcp-method': 'tools/list' },
  'a name of the newer protocol': { 'mcp-name': 'other' },
  'an older protocol version': { 'mcp-protocol-version': '2025-03-26' },
  'no wish for events': { accept: 'application/json' },
  'no wish for JSON': { accept: 'text/event-stream' },
  'a wish for anything': { accept: '*/*' },
  'a character set': { 'content-type': 'application/json; charset=utf-8' },
  'another content type': { 'content-type': 'text/plain' },
};
for (const [what, headers] of Object.entries(oddHeaders)) {
  test(`a call with ${what} is answered as the SDK answers it`, async (t) => {
    const doors = await openBoth(t);
    const body = JSON.stringify(call(echo));
    const [plain, sdk] = await Promise.all(doors.map((door) => sendInSession(door, { headers, body })));
    assert.deepEqual(described(plain), described(sdk));
    assert.equal(doors[0].calls.length, doors[1].calls.length);
  });
}

const named = { 'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' } };
const modernMeta: Readonly<Record<string, object>> = {
  'as every newer client': {},
  'with its name': named,
  'with a name that is not text': { 'io.modelcontextprotocol/clientInfo': 7 },
  'with abilities that are not an object': { 'io.modelcontextprotocol/clientCapabilities': 'all' },
  'without its abilities': { 'io.modelcontextprotocol/clientCapabilities': undefined },
  'with a log level': { 'io.modelcontextprotocol/logLevel': 'debug' },
  'with a version that nobody knows': { 'io.modelcontextprotocol/protocolVersion': '2099-01-01' },
  'with an older version': { 'io.modelcontextprotocol/protocolVersion': '2025-11-25' },
  'with a version that is a number': { 'io.modelcontextprotocol/protocolVersion': 7 },
};
for (const [what, meta] of Object.entries(modernMeta)) {
  test(`a client that presents itself ${what} is answered as the SDK answers it, also the second time`, async (t) => {
    const doors = await openBoth(t);
    const { headers = {}, body = '' } = modernRequest('tools/call', echo);
    const { params, ...rest } = JSON.parse(body.toString()) as { params: { _meta: object } };
    const { _meta: usual, ...asked } = params;
    const message = { ...rest, params: { ...asked, _meta: { ...usual, ...meta } } };
    for (let time = 0; time < 2; time++) {
      const request = { headers, body: JSON.stringify(message) };
      const [plain, sdk] = await Promise.all(doors.map((door) => sendRaw(door.url, { token: door.token, ...request })));
      assert.deepEqual(described(plain), described(sdk));
      // Only the gate itself says so.
      const isPlain = time > 0 && (meta === named || Object.keys(meta).length === 0);
      assert.equal(plain?.headers['cache-control'] === 'no-store', isPlain || plain?.status !== 200);
    }
    assert.deepEqual(doors[0].calls.map(recorded), doors[1].calls.map(recorded));
  });
}

for (const [what, headers] of Object.entries({
  'another tool': { 'mcp-name': 'test_failing' },
  'another method': { 'mcp-method': 'tools/list' },
  'another version': { 'mcp-protocol-version': '2025-11-25' },
  'a session': { 'mcp-session-id': 'made-up' },
  'a name in base64': { 'mcp-name': '=?base64?dGVzdF9lY2hv?=' },
})) {
  test(`a newer call whose headers name ${what} is answered as the SDK answers it`, async (t) => {
    const doors = await openBoth(t);
    const usual = modernRequest('tools/call', echo);
    for (const request of [usual, { ...usual, headers: { ...usual.headers, ...headers } }]) {
      const [plain, sdk] = await Promise.all(doors.map((door) => sendRaw(door.url, { token: door.token, ...request })));
      assert.deepEqual(described(plain), described(sdk));
    }
    assert.equal(doors[0].calls.length, doors[1].calls.length);
  });
}

test('the session of another token is as if it did not exist, and nothing of the call happens', async (t) => {
  const door = await openDoor(t);
  const thief = door.setSession({ agent: 'mallory' });
  const answer = await sendInSession({ ...door, token: thief }, { body: JSON.stringify(call(echo)) });
  assert.equal(answer.status, 404);
  assert.equal(door.calls.length, 0);
  const ended = await sendInSession({ ...door, token: 'guessed' }, { body: JSON.stringify(call(echo)) });
  assert.equal(ended.status, 401);
  assert.ok(door.calls.every(({ toolName }) => toolName === 'unreadable'));
});

test('arguments that are too large are refused by the gate or before it, and the door goes on', async (t) => {
  const door = await openDoor(t);
  const large = call({ name: 'test_echo', arguments: { text: 'x'.repeat(5 * 1024 * 1024) } });
  assert.equal((await sendInSession(door, { body: JSON.stringify(large) })).status, 413);
  assert.equal((await sendInSession(door, { body: JSON.stringify(call(echo)) })).status, 200);
});

test('two calls with one id are both answered, each to its own request', async (t) => {
  const { tool, begun } = endlessTool();
  const door = await openDoor(t, { tools: [...tools, tool] });
  const endless = sendInSession(door, { body: JSON.stringify(call({ name: 'test_endless' })) });
  await begun;
  const second = await sendInSession(door, { body: JSON.stringify(call(echo)) });
  assert.match(JSON.stringify(second.messages), /args/);
  await cancel(door, 1);
  assert.deepEqual((await endless).messages, [], 'a cancelled call has no answer');
});

test('a call that is cancelled in the middle ends in the tool, without an answer', async (t) => {
  const { tool, begun, cancelled } = endlessTool();
  const door = await openDoor(t, { tools: [tool] });
  const answer = sendInSession(door, { body: JSON.stringify(call({ name: 'test_endless' }, { id: 'long' })) });
  await begun;
  await cancel(door, 'other');
  await cancel(door, 'long');
  await cancelled;
  assert.deepEqual((await answer).messages, []);
  await cancel(door, 'long');
});

test('a session that ends takes its calls with it', async (t) => {
  const { tool, begun, cancelled } = endlessTool();
  const door = await openDoor(t, { tools: [tool] });
  const answer = sendInSession(door, { body: JSON.stringify(call({ name: 'test_endless' })) });
  await begun;
  assert.equal((await sendInSession(door, { method: 'DELETE' })).status, 200);
  await cancelled;
  assert.deepEqual((await answer).messages, []);
});

function sendInSession({ url, token, session }: Door, { headers, ...request }: RawRequest): Promise<RawAnswer> {
  return sendRaw(url, { token, ...request, headers: { 'mcp-session-id': session, ...headers } });
}

async function cancel(door: Door, requestId: string | number): Promise<void> {
  const message = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } };
  assert.equal((await sendInSession(door, { body: JSON.stringify(message) })).status, 202);
}

/** What may differ is left out: ids that are made anew for each call, and the form of the answer. */
function described(answer: RawAnswer | undefined): object {
  return { status: answer?.status, messages: answer?.messages.map(withoutIds) };
}

function withoutIds(message: RawMessage): unknown {
  return JSON.parse(
    JSON.stringify(message)
      .replaceAll(/"(call_id|trace_id)":"[^"]*"/g, '"$1":""')
      .replaceAll(/Call [0-9a-f-]{36}/g, 'Call')
      .replaceAll(/"request_id":"[0-9a-f]{8}:[0-9a-f]{16}/g, '"request_id":"'),
  );
}

function recorded({
  toolName,
  input,
  violations,
  timeoutMs,
  waitMs,
  taskId,
  dedupeKey,
}: Door['calls'][number]): object {
  return { toolName, input, violations, timeoutMs, waitMs, taskId, dedupeKey };
}
