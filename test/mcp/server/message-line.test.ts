import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { longestRequest, mostRequests } from '../../../packages/contract/src/client/message-line.ts';
import { requirement } from '../../requirement.ts';
import { Bridge, callTool } from './bridge.ts';
import { openTestDoor } from './door-kit.ts';
import type { TestDoor } from './door-kit.ts';
import { askForLine, lineHeaders, LineClient, openLine } from './line-client.ts';
import { modernRequest, sendRaw } from './raw-client.ts';
import type { RawMessage } from './raw-client.ts';
import { defineTestTool, endlessTool } from './test-tools.ts';

const echoTool = defineTestTool({ name: 'test.echo', run: (args) => Promise.resolve({ args }) });
const progressTool = defineTestTool({
  name: 'test.progress',
  run: async (_, { reportProgress }) => {
    reportProgress({ kind: 'step', done: 1, total: 2, message: 'halfway' });
    return { done: true };
  },
});
const echo = callTool(1, 'test_echo', { a: 'é\u2028' });
const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };

async function open(t: TestContext, tools = [echoTool, progressTool]) {
  const door = await openTestDoor(t, { tools });
  return { door, ...(await openLine(t, door)) };
}

/** Usual ones: what a client posts, it is answered on a line as well. */
const answered = {
  'a call': echo,
  'a ping': ping,
  'an id that is a text': { ...echo, id: 'a b' },
  'a call with what is meant for the gate': callTool(1, 'test_echo', {}, { 'sallyport/request_id': 'mine' }),
  'a call whose `_meta` is wrong': callTool(1, 'test_echo', {}, { 'sallyport/timeout_ms': 'soon' }),
};
for (const [what, message] of Object.entries(answered)) {
  test(`${what} is answered on a line as it is when it is posted`, async (t) => {
    requirement('NFR-4');
    const { door, token, session, line } = await open(t);
    const posted = await sendRaw(door.url, {
      ...{ token, headers: { 'mcp-session-id': session }, body: JSON.stringify(message) },
    });
    const frame = await line.answer(5, message);
    assert.equal(frame.mark, '=');
    assert.deepEqual(withoutIds(JSON.parse(frame.json) as object), withoutIds(posted.messages[0] ?? {}));
    assert.equal(door.countOnLines(), 1);
    const [first, second] = door.calls.filter(({ toolName }) => toolName === 'test.echo');
    assert.deepEqual(first && said(first), second && said(second));
  });
}

const named = (params: unknown) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
/** Odd and malformed ones. Nothing happens with them on a line; posted, they are judged, refused and recorded. */
const declined: Readonly<Record<string, object | string>> = {
  'no JSON': 'no JSON',
  nothing: '',
  'half a message': JSON.stringify(echo).slice(0, 40),
  'two messages': `${JSON.stringify(echo)}${JSON.stringify(echo)}`,
  'a batch': [echo],
  'a name twice': '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_echo","name":"test_progress"}}',
  'a prototype':
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_echo","__proto__":{"name":"x"}}}',
  'half of a surrogate pair': '{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
  'an id that is null': { ...echo, id: null },
  'an id that no double holds': JSON.stringify(ping).replace('"id":1', '"id":12345678901234567890'),
  'no id': { jsonrpc: '2.0', method: 'tools/call', params: { name: 'test_echo' } },
  'a field that nobody knows': { ...echo, auth: 'x' },
  'arguments that are a list': named({ name: 'test_echo', arguments: [] }),
  'a tool that does not exist': callTool(1, 'test_missing', {}),
  'a tool under its own name': callTool(1, 'test.echo', {}),
  'deep nesting': `${'['.repeat(5000)}${']'.repeat(5000)}`,
  'a list of tools': { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  'another session': { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} },
  'an answer': { jsonrpc: '2.0', id: 1, result: {} },
  'a cancellation': { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
  'the newer protocol, in a session of the older': JSON.parse(
    String(modernRequest('tools/call', { name: 'test_echo', arguments: {} }).body),
  ) as object,
  'the newer protocol by half': callTool(1, 'test_echo', {}, { 'io.modelcontextprotocol/clientCapabilities': {} }),
};
for (const [what, message] of Object.entries(declined)) {
  test(`with ${what} nothing happens on a line, and what follows is answered`, async (t) => {
    const { door, line } = await open(t);
    assert.equal((await line.answer(1, message)).mark, '-');
    assert.deepEqual(door.calls, []);
    assert.equal((await line.answer(2, echo)).mark, '=');
    assert.equal(door.complaints.length, 0);
  });
}

test('a call of the newer protocol is answered once its client is known, and never in a session', async (t) => {
  const door = await openTestDoor(t, { tools: [echoTool] });
  const token = door.setSession();
  const { headers = {}, body = '' } = modernRequest('tools/call', { name: 'test_echo', arguments: {} });
  const { socket } = await askForLine(door, { ...lineHeaders, authorization: `Bearer ${token}` });
  const line = new LineClient(t, socket);
  assert.equal((await line.answer(1, String(body))).mark, '-', 'the SDK has not read what the client says of itself');
  const posted = await sendRaw(door.url, { token, headers, body });
  const frame = await line.answer(2, String(body));
  assert.equal(frame.mark, '=');
  assert.deepEqual(withoutIds(JSON.parse(frame.json) as object), withoutIds(posted.messages[0] ?? {}));
  assert.equal((await line.answer(3, echo)).mark, '-', 'an older call needs a session');
  assert.equal((await line.answer(4, String(body).replace('2026-07-28', '2027-01-01'))).mark, '-');
});

test('what a caller may do is looked up for every message of a line', async (t) => {
  const { door, token, line } = await open(t);
  assert.equal((await line.answer(1, echo)).mark, '=');
  const changed = defineTestTool({ name: 'test.echo', run: () => Promise.resolve('changed') });
  door.registry.replaceSource('test', [changed]);
  assert.match((await line.answer(2, echo)).json, /changed/);
  door.registry.replaceSource('test', []);
  assert.equal((await line.answer(3, echo)).mark, '-', 'the tool is gone');
  door.registry.replaceSource('test', [echoTool]);
  assert.equal((await line.answer(4, echo)).mark, '=');
  door.setSession({ id: token, status: 'ended' });
  assert.equal((await line.answer(5, echo)).mark, '-', 'the session of the gate has ended');
  assert.equal((await line.answer(6, ping)).mark, '-');
  assert.equal(door.calls.length, 3);
});

test('a session of MCP that ends, or belongs to another, takes nothing on a line', async (t) => {
  const { tool, begun, cancelled } = endlessTool();
  const { door, token, session, line } = await open(t, [tool, echoTool]);
  line.send(1, callTool(1, 'test_endless', {}));
  await begun;
  assert.equal((await line.answer(2, callTool(1, 'test_echo', {}))).mark, '-', 'the id is in use');
  await sendRaw(door.url, { method: 'DELETE', token, headers: { 'mcp-session-id': session } });
  await cancelled;
  assert.deepEqual(await line.end(1), { number: 1, mark: '!', json: '' });
  assert.equal((await line.answer(3, echo)).mark, '-');
  const mallory = door.setSession({ agent: 'mallory' });
  const own = await openLine(t, door);
  const stolen = { ...lineHeaders, authorization: `Bearer ${mallory}`, 'mcp-session-id': own.session };
  const foreign = new LineClient(t, (await askForLine(door, stolen)).socket);
  assert.equal((await foreign.answer(1, echo)).mark, '-');
});

test('who cancels ends the call, and who hangs up ends all', async (t) => {
  requirement('PIPE-7');
  const [first, second, third] = ['test.a', 'test.b', 'test.c'].map(endlessTool);
  assert.ok(first && second && third);
  const { line } = await open(t, [first.tool, second.tool, third.tool]);
  line.send(1, callTool(1, 'test_a', {}));
  line.send(2, callTool(2, 'test_b', {}));
  line.send(3, callTool(3, 'test_c', {}));
  await Promise.all([first.begun, second.begun, third.begun]);
  line.cancel(1);
  line.cancel(77);
  await first.cancelled;
  line.socket.end();
  await Promise.all([second.cancelled, third.cancelled]);
  await line.closed();
});

test('progress comes before the answer, under its number', async (t) => {
  const { line } = await open(t);
  assert.equal((await line.answer(9, callTool(1, 'test_progress', {}, { progressToken: 7 }))).mark, '=');
  const [news, ...rest] = line.frames;
  assert.deepEqual([news?.number, news?.mark, rest.length], [9, '+', 1]);
  assert.match(news?.json ?? '', /"progressToken":7/);
});

const broken: Readonly<Record<string, string | Buffer>> = {
  'no number': '={"jsonrpc":"2.0"}\n',
  'no mark': '12\n',
  'another mark': '1?{}\n',
  'a mark of the daemon': '1+{}\n',
  'a number that is too long': '1234567890123456={}\n',
  'an empty line': '\n',
  HTTP: 'POST /mcp HTTP/1.1\r\n',
  'bytes that are not UTF-8': Buffer.from([0x31, 0x3d, 0xc3, 0x28, 0x0a]),
  'a line without an end': 'x'.repeat(3 * longestRequest),
};
for (const [what, bytes] of Object.entries(broken)) {
  test(`a line with ${what} is cut off, and the door goes on`, async (t) => {
    const { door, line } = await open(t);
    line.socket.write(bytes);
    await line.closed();
    const again = await openLine(t, door);
    assert.equal((await again.line.answer(1, echo)).mark, '=');
    assert.equal(door.complaints.length, 0);
  });
}

test('a number in use is no second request', async (t) => {
  const { tool, begun, cancelled } = endlessTool();
  const { line } = await open(t, [tool]);
  line.send(1, callTool(1, 'test_endless', {}));
  await begun;
  line.send(1, callTool(2, 'test_endless', {}));
  await Promise.all([line.closed(), cancelled]);
});

test('frames are read wherever the packets end', async (t) => {
  const { line } = await open(t);
  line.socket.setNoDelay(true);
  const bytes = Buffer.from(`1=${JSON.stringify(echo)}\n2=${JSON.stringify({ ...echo, id: 2 })}\n`);
  for (const byte of bytes) {
    line.socket.write(Buffer.of(byte));
    await sleep(0);
  }
  assert.match((await line.end(1)).json, /é/);
  assert.match((await line.end(2)).json, /é/);
});

test('a line takes so many requests at once, and declines further ones', async (t) => {
  const done = Promise.withResolvers<string>();
  const slow = defineTestTool({ name: 'test.slow', run: () => done.promise });
  const { line } = await open(t, [slow]);
  for (let at = 0; at <= mostRequests; at++) line.send(at, callTool(at, 'test_slow', {}));
  assert.equal((await line.end(mostRequests)).mark, '-');
  done.resolve('late');
  for (let at = 0; at < mostRequests; at++) assert.equal((await line.end(at)).mark, '=');
});

test('who does not read is not read either', async (t) => {
  const large = 'x'.repeat(900_000);
  const tool = defineTestTool({ name: 'test.large', run: () => Promise.resolve({ large }) });
  const { door, line } = await open(t, [tool]);
  line.socket.pause();
  for (let at = 0; at < mostRequests; at++) {
    line.send(at, callTool(at, 'test_large', {}));
    await sleep(1);
  }
  await sleep(200);
  // What the kernel holds, and what came while the first answers were written.
  assert.ok(door.calls.length < mostRequests / 2, `${door.calls.length} calls ran for a reader that takes no answer`);
  line.socket.resume();
  for (let at = 0; at < mostRequests; at++) assert.equal((await line.end(at)).mark, '=');
});

/** None of these becomes a line: they are answered as HTTP, and the connection can be used for more. */
const refused: Readonly<Record<string, [start: string, headers: Record<string, string>, status: number]>> = {
  'no credential': ['GET /mcp/messages', { ...lineHeaders, authorization: '' }, 400],
  'a credential that nobody has': ['GET /mcp/messages', { ...lineHeaders, authorization: 'Bearer guessed' }, 400],
  'another protocol': ['GET /mcp/messages', { connection: 'Upgrade', upgrade: 'websocket' }, 400],
  'the origin of a page': ['GET /mcp/messages', { ...lineHeaders, origin: 'https://evil.example' }, 403],
  'a foreign host': ['GET /mcp/messages', { ...lineHeaders, host: 'evil.example' }, 403],
  'no wish for a line': ['GET /mcp/messages', {}, 400],
  'another path': ['GET /healthz', { ...lineHeaders }, 200],
  'HTTP/2 offered elsewhere': ['GET /healthz', { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c' }, 200],
  'a query': ['GET /mcp/messages?x', { ...lineHeaders }, 400],
  'another method': ['DELETE /mcp/messages', { ...lineHeaders }, 405],
};
for (const [what, [start, headers, status]] of Object.entries(refused)) {
  test(`a request with ${what} opens no line`, async (t) => {
    const door = await openTestDoor(t, { tools: [echoTool] });
    const { socket, head } = await askForLine(
      door,
      { authorization: `Bearer ${door.setSession()}`, ...headers },
      start,
    );
    t.after(() => socket.destroy());
    assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `));
  });
}

test('a door that stops lets calls of a line end, takes no further one, and hangs up', async (t) => {
  const [begun, done] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
  const slow = defineTestTool({
    name: 'test.slow',
    run: () => {
      begun.resolve();
      return done.promise;
    },
  });
  const { door, line } = await open(t, [slow, echoTool]);
  line.send(1, callTool(1, 'test_slow', {}));
  await begun.promise;
  const stopped = door.stop();
  assert.equal((await line.answer(2, { ...echo, id: 2 })).mark, '-');
  done.resolve('late');
  assert.match((await line.end(1)).json, /late/);
  await Promise.all([line.closed(), stopped]);
});

/** The second call and those after it go over the line. */
async function beginOnLine(t: TestContext, door: TestDoor): Promise<Bridge> {
  const bridge = new Bridge(t, door.place, door.setSession());
  await bridge.begin();
  for (let id = 1000; door.countOnLines() === 0; id++) {
    bridge.send(callTool(id, 'test_echo', {}));
    await bridge.answer(id);
  }
  return bridge;
}

test('a stdio client is answered over a line, whatever its calls are', async (t) => {
  const { tool, begun, cancelled } = endlessTool();
  const door = await openTestDoor(t, { tools: [tool, echoTool, progressTool] });
  const bridge = await beginOnLine(t, door);
  const before = door.countOnLines();
  for (let id = 1; id <= 2 * mostRequests; id++) bridge.send(callTool(id, 'test_echo', { id, text: 'grün\u2029' }));
  bridge.send(callTool(3001, 'test_missing', {}));
  bridge.send(callTool(3002, 'test_echo', { large: 'x'.repeat(longestRequest) }));
  bridge.send(callTool(3003, 'test_progress', {}, { progressToken: 'p' }));
  for (let id = 1; id <= 2 * mostRequests; id++) {
    const { content } = (await bridge.answer(id)).result as { content: readonly { text: string }[] };
    assert.deepEqual(JSON.parse(content[0]?.text ?? ''), { args: { id, text: 'grün\u2029' } });
  }
  assert.match(JSON.stringify(await bridge.answer(3001)), /UNKNOWN_TOOL/);
  assert.match(JSON.stringify(await bridge.answer(3002)), /xxxx/);
  await bridge.answer(3003);
  await bridge.find(({ method }) => method === 'notifications/progress');
  assert.ok(door.countOnLines() >= before + mostRequests, `${door.countOnLines()} on lines`);

  bridge.send(callTool(4000, 'test_endless', {}));
  await begun;
  bridge.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 4000 } });
  await cancelled;
  assert.equal(await bridge.end(), 0);
  const ids = bridge.lines.map((line) => (JSON.parse(line) as RawMessage).id).filter((id) => typeof id === 'number');
  assert.equal(new Set(ids).size, ids.length, 'each request has one answer');
  assert.ok(!ids.includes(4000), 'a cancelled request has no answer');
});

test('a stdio client that leaves cancels what runs on its line', async (t) => {
  const { tool, begun, cancelled } = endlessTool();
  const door = await openTestDoor(t, { tools: [tool, echoTool] });
  const bridge = await beginOnLine(t, door);
  bridge.send(callTool(1, 'test_endless', {}));
  await begun;
  assert.equal(await bridge.end(), 0);
  await cancelled;
});

function said({
  callId: _callId,
  requestId: _requestId,
  signal: _signal,
  ...rest
}: Record<string, unknown> & object): object {
  return JSON.parse(JSON.stringify(rest)) as object;
}

/** Each call has ids of its own. */
function withoutIds(message: object): object {
  return JSON.parse(
    JSON.stringify(message).replace(/[0-9a-f]{8}(?:-?[0-9a-f]{4}){4}[0-9a-f]{8}|[0-9a-f]{8}:[0-9a-f]{16}:1/g, '…'),
  ) as object;
}
