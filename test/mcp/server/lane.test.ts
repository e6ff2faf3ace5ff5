import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { readPlainRequest } from '../../../packages/gateway/src/doors/transport/wire/plain-request.ts';
import { openSocket, readSocket } from '../../doors/http-exchange.ts';
import { requirement } from '../../requirement.ts';
import { openTestDoor } from './door-kit.ts';
import type { TestDoor } from './door-kit.ts';
import { initialize, modernRequest } from './raw-client.ts';
import { defineTestTool, endlessTool } from './test-tools.ts';

const echoTool = defineTestTool({ name: 'test.echo', run: (args) => Promise.resolve({ args }) });
const progressTool = defineTestTool({
  name: 'test.progress',
  run: async (_, { reportProgress }) => {
    reportProgress({ kind: 'step', done: 1, total: 2, message: 'halfway' });
    return { done: true };
  },
});

interface Asked {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

interface Told {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** One connection, on which requests go one after the other. A header that the lane does not know takes it to HTTP. */
class Client {
  readonly #door: TestDoor;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #more: Readonly<Record<string, string>>;
  session = '';

  constructor(t: TestContext, door: TestDoor, way: 'lane' | 'http') {
    this.#door = door;
    this.#more = way === 'lane' ? {} : { 'x-other': '1' };
    t.after(() => this.#agent.destroy());
  }

  async open(token: string): Promise<this> {
    const { headers } = await this.ask({ token, body: initialize });
    this.session = String(headers['mcp-session-id']);
    return this;
  }

  ask({ token, headers = {}, body }: Asked): Promise<Told> {
    const sent = {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(this.session === '' ? {} : { 'mcp-session-id': this.session }),
      ...headers,
      ...this.#more,
    };
    return new Promise((resolve, reject) => {
      const asked = request(this.#door.url, { method: 'POST', agent: this.#agent, headers: sent }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (data: string) => (text += data));
        response.on('error', reject);
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      });
      asked.on('error', reject);
      asked.end(body);
    });
  }
}

async function openBoth(t: TestContext) {
  const open = async (way: 'lane' | 'http') => {
    const door = await openTestDoor(t, { tools: [echoTool, progressTool] });
    const token = door.setSession();
    return { door, token, client: await new Client(t, door, way).open(token) };
  };
  return { lane: await open('lane'), http: await open('http') };
}

function message(method: string, params: unknown, id: unknown = 1): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params });
}

const echo = message('tools/call', { name: 'test_echo', arguments: { a: 'é' } });
const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;

/** Usual, malformed and hostile ones. `headers` may stand in the way of what the body says. */
const asked: Readonly<Record<string, Omit<Asked, 'token'>>> = {
  'a call': { body: echo },
  'a ping': { body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }) },
  'a list of tools': { body: message('tools/list', {}) },
  'a call with progress': {
    body: message('tools/call', { name: 'test_progress', arguments: {}, _meta: { progressToken: 7 } }),
  },
  'a call of the newer protocol': { ...(modernRequest('tools/call', { name: 'test_echo' }) as Asked) },
  'a call whose headers name another tool': {
    body: modernRequest('tools/call', { name: 'test_echo' }).body ?? '',
    headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'test_progress' },
  },
  'a notification': { body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }) },
  'a second initialize': { body: initialize },
  'a batch': { body: `[${echo}]` },
  'a batch with an id twice': { body: `[${echo},${echo}]` },
  'a tool that does not exist': { body: message('tools/call', { name: 'test_missing' }) },
  'a method that does not exist': { body: message('tools/shout', {}) },
  'arguments that are a list': { body: message('tools/call', { name: 'test_echo', arguments: [] }) },
  'an id that is null': { body: message('tools/call', { name: 'test_echo' }, null) },
  'a name twice': {
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_echo","name":"test_progress"}}',
  },
  'a method twice': { body: '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}' },
  'a prototype': {
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_echo","__proto__":{"name":"x"}}}',
  },
  'half a message': { body: echo.slice(0, 30) },
  'two messages': { body: `${echo}${echo}` },
  'a number that is too large': { body: message('ping', undefined).replace('1', '12345678901234567890') },
  'nothing in it': { body: '' },
  'bytes that are not UTF-8': { body: Buffer.from([0x22, 0xc3, 0x28, 0x22]) },
  'deep nesting': { body: deep },
  'a session that was made up': { body: echo, headers: { 'mcp-session-id': 'made-up' } },
  'a version that nobody knows': { body: echo, headers: { 'mcp-protocol-version': '1999-01-01' } },
  'no wish for events': { body: echo, headers: { accept: 'application/json' } },
  'a foreign host': { body: echo, headers: { host: 'evil.example' } },
  'another content type': { body: echo, headers: { 'content-type': 'text/plain' } },
  'a method of the newer protocol': { body: echo, headers: { 'mcp-method': 'tools/list' } },
};

for (const [what, question] of Object.entries(asked)) {
  test(`a message with ${what} is answered on the lane as through HTTP, and so is what follows it`, async (t) => {
    requirement('NFR-4');
    const { lane, http } = await openBoth(t);
    for (const each of [question, { body: echo }]) {
      const [short, long] = await Promise.all(
        [lane, http].map(({ client, token }) => client.ask({ token, ...each }).then(described)),
      );
      assert.deepEqual(short, long);
    }
    assert.deepEqual(lane.door.calls.map(recorded), http.door.calls.map(recorded));
    assert.deepEqual(lane.door.complaints.length, http.door.complaints.length);
  });
}

for (const token of [undefined, 'guessed', '']) {
  test(`a caller with the token ${token} is refused and recorded alike`, async (t) => {
    const { lane, http } = await openBoth(t);
    const [short, long] = await Promise.all(
      [lane, http].map(({ client }) => client.ask({ ...(token === undefined ? {} : { token }), body: echo })),
    );
    assert.equal(short?.status, 401);
    assert.deepEqual(short && described(short), long && described(long));
    assert.deepEqual(lane.door.calls.map(recorded), http.door.calls.map(recorded));
  });
}

test('what a caller may do is looked up for every request of a connection', async (t) => {
  const door = await openTestDoor(t, { tools: [echoTool] });
  const token = door.setSession();
  const client = await new Client(t, door, 'lane').open(token);
  assert.equal((await client.ask({ token, body: echo })).status, 200);
  const other = door.setSession({ agent: 'mallory' });
  assert.equal((await client.ask({ token: other, body: echo })).status, 404, 'the session of MCP is not theirs');
  door.setSession({ id: token, status: 'ended' });
  assert.equal((await client.ask({ token, body: echo })).status, 401);
  assert.equal(door.calls.filter(({ toolName }) => toolName === 'test.echo').length, 1);
});

test('a definition that changes, or a tool that goes, counts from the next request on', async (t) => {
  const door = await openTestDoor(t, { tools: [echoTool] });
  const token = door.setSession();
  const client = await new Client(t, door, 'lane').open(token);
  assert.match((await client.ask({ token, body: echo })).text, /args/);
  const changed = defineTestTool({ name: 'test.echo', run: () => Promise.resolve('changed') });
  door.registry.replaceSource('test', [changed]);
  assert.match((await client.ask({ token, body: echo })).text, /changed/);
  door.registry.replaceSource('test', []);
  assert.match((await client.ask({ token, body: echo })).text, /UNKNOWN_TOOL/);
});

test('what clients of the SDK send has the plain shape, from the first request on', () => {
  const lines = [
    'POST /mcp HTTP/1.1',
    ...['host: 127.0.0.1:4780', 'connection: keep-alive', 'authorization: Bearer x', 'content-type: application/json'],
    ...['accept: application/json, text/event-stream', 'mcp-session-id: a-b', 'mcp-protocol-version: 2025-11-25'],
    ...['accept-language: *', 'sec-fetch-mode: cors', 'user-agent: node', 'accept-encoding: gzip, deflate'],
    ...['content-length: 2', '', '{}'],
  ];
  assert.ok(readPlainRequest(Buffer.from(lines.join('\r\n'))));
});

test('a caller who hangs up in the middle of a call ends it', async (t) => {
  requirement('PIPE-7');
  const { tool, begun, cancelled } = endlessTool();
  const door = await openTestDoor(t, { tools: [tool] });
  const { socket } = await openRaw(t, door, message('tools/call', { name: 'test_endless' }));
  await begun;
  socket.destroy();
  await cancelled;
});

test('an answer that takes long comes as events, and the next request waits for its end', async (t) => {
  const done = Promise.withResolvers<void>();
  const slow = defineTestTool({ name: 'test.slow', run: () => done.promise.then(() => 'late') });
  const door = await openTestDoor(t, { tools: [slow, echoTool] });
  const { socket, write } = await openRaw(t, door, message('tools/call', { name: 'test_slow' }, 'first'));
  const begun = readSocket(socket, (text) => text.includes('\r\n\r\n'));
  write(message('tools/call', { name: 'test_echo' }, 'second'));
  assert.match(await begun, /content-type: text\/event-stream[^]*Transfer-Encoding: chunked/);
  const all = readSocket(socket, (text) => text.includes('"second"'));
  done.resolve();
  // The whole stream, its end, and only then the head of the next answer.
  assert.match(
    await all,
    /^[0-9a-f]+\r\nevent: message\ndata: .*"first"}\n\n\r\n0\r\n\r\nHTTP\/1.1 200 OK[^]*"second"}$/,
  );
  socket.destroy();
  await once(socket, 'close');
});

async function openRaw(t: TestContext, door: TestDoor, first: string) {
  const token = door.setSession();
  const { session } = await new Client(t, door, 'lane').open(token);
  const socket = await openSocket(Number(door.url.port));
  t.after(() => socket.destroy());
  const write = (body: string): void => {
    const lines = ['POST /mcp HTTP/1.1', `host: ${door.url.host}`, `authorization: Bearer ${token}`];
    lines.push('accept: application/json, text/event-stream', 'content-type: application/json');
    lines.push(`mcp-session-id: ${session}`, `content-length: ${Buffer.byteLength(body)}`);
    socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
  };
  write(first);
  return { socket, write };
}

/** Ids are made anew for each call; and where HTTP does not say how long nothing is, the lane does. */
function described({ status, headers, text }: Told): object {
  const {
    date: _now,
    'transfer-encoding': _how,
    'content-length': _length,
    'mcp-session-id': session,
    ...rest
  } = headers;
  return {
    status,
    headers: { ...rest, session: session !== undefined },
    text: text
      .replaceAll(/"(call_id|trace_id)":"[^"]*"/g, '"$1":""')
      .replaceAll(/Call [0-9a-f-]{36}/g, 'Call')
      .replaceAll(/"request_id":"[0-9a-f]{8}:[0-9a-f]{16}/g, '"request_id":"')
      .replaceAll(/^id: .*$/gm, 'id:'),
  };
}

function recorded({ toolName, input, violations, taskId, waitMs }: TestDoor['calls'][number]): object {
  return { toolName, input, violations, taskId, waitMs };
}
