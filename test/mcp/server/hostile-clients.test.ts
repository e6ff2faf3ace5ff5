import assert from 'node:assert/strict';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { openTestDoor } from './door-kit.ts';
import type { DoorOptions, TestDoor } from './door-kit.ts';
import { connectPeer, textOf } from './peers.ts';
import { initialize, modernRequest, openLegacySession, revision, sendRaw } from './raw-client.ts';
import { defineTestTool } from './test-tools.ts';

const mebibyte = 1024 * 1024;

const echo = defineTestTool({ name: 'test.echo', run: (args) => Promise.resolve({ args }) });

async function openDoor(
  t: TestContext,
  more: Partial<DoorOptions> = {},
): Promise<TestDoor & { readonly token: string }> {
  const door = await openTestDoor(t, { tools: [echo], ...more });
  return { ...door, token: door.setSession() };
}

const listTools = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });

test('nobody gets in without the token of a session, and each attempt reaches the record', async (t) => {
  const { url, token, calls, setSession } = await openDoor(t);
  const ended = setSession({ status: 'ended' });
  for (const request of [{}, { token: 'guessed' }, { token: ended }, { headers: { authorization: 'Basic x' } }]) {
    for (const method of ['POST', 'GET', 'DELETE']) {
      const answer = await sendRaw(url, { ...request, method, ...(method === 'POST' ? { body: initialize } : {}) });
      assert.equal(answer.status, 401, answer.text);
      assert.equal(answer.headers['www-authenticate'], 'Bearer');
      assert.match(answer.text, /session/);
    }
  }
  assert.equal(calls.length, 12);
  const session = await openLegacySession(url, token);
  const stolen = await sendRaw(url, { token: 'guessed', headers: { 'mcp-session-id': session }, body: listTools });
  assert.equal(stolen.status, 401, 'the session of MCP proves nothing');
});

test('pages of other origins and names that are not ours are refused', async (t) => {
  const { url, token } = await openDoor(t);
  for (const headers of [{ origin: 'http://evil.example' }, { host: 'evil.example' }, { origin: 'null' }]) {
    assert.equal((await sendRaw(url, { token, headers, body: initialize })).status, 403);
  }
  assert.equal((await sendRaw(url, { token, headers: { origin: url.origin }, body: initialize })).status, 200);
});

test('the session of another is as if it did not exist', async (t) => {
  const { url, token, setSession } = await openDoor(t);
  const other = setSession({ agent: 'mallory' });
  const session = { 'mcp-session-id': await openLegacySession(url, token) };
  for (const method of ['POST', 'GET', 'DELETE']) {
    const body = method === 'POST' ? { body: listTools } : {};
    const [theirs, made] = await Promise.all([
      sendRaw(url, { token: other, method, headers: session, ...body }),
      sendRaw(url, { token: other, method, headers: { 'mcp-session-id': 'made-up' }, ...body }),
    ]);
    assert.equal(theirs.status, 404);
    assert.equal(theirs.text, made.text);
  }
  const own = await sendRaw(url, { token, headers: session, body: listTools });
  assert.equal(own.status, 200, 'and it goes on');
  assert.equal((await sendRaw(url, { token, body: listTools })).status, 400, 'an older client needs a session');
});

test('a message that is too large is refused before it is read', async (t) => {
  const { url, token } = await openDoor(t);
  const claimed = await new Promise<string>((resolve) => {
    const socket = connect(Number(url.port), '127.0.0.1');
    let text = '';
    socket.on('data', (data) => (text += data.toString()));
    socket.on('close', () => resolve(text));
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${64 * mebibyte}\r\n\r\n{`,
    );
  });
  assert.match(claimed, /^HTTP\/1\.1 413 /);
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'x', params: { text: 'x'.repeat(5 * mebibyte) } });
  const sent = await sendRaw(url, { token, headers: { 'transfer-encoding': 'chunked' }, body });
  assert.equal(sent.status, 413);
});

const unreadable: Readonly<Record<string, { readonly body: string | Buffer; readonly status: number }>> = {
  'nested too deeply': { body: `${'['.repeat(100_000)}${']'.repeat(100_000)}`, status: 400 },
  'of too many parts': { body: `[${'0,'.repeat(200_000)}0]`, status: 413 },
  'cut off': { body: '{"jsonrpc":"2.0"', status: 400 },
  'not UTF-8': { body: Buffer.from([0x7b, 0xff, 0x7d]), status: 400 },
  'with a key twice': {
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_echo","name":"other"}}',
    status: 400,
  },
  'with a number that would change': {
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_echo","arguments":{"n":9007199254740993}}}',
    status: 400,
  },
  empty: { body: '', status: 400 },
};
for (const [what, { body, status }] of Object.entries(unreadable)) {
  test(`a message ${what} is refused and on record`, async (t) => {
    const { url, token, calls } = await openDoor(t);
    const answer = await sendRaw(url, { token, body });
    assert.equal(answer.status, status, answer.text);
    assert.equal(answer.messages[0]?.id, null);
    assert.equal(calls.length, 1);
    assert.equal(calls[0]?.violations?.length, 1);
    assert.equal((await sendRaw(url, { token, ...modernRequest('tools/list') })).status, 200, 'the door goes on');
  });
}

test('a call that the SDK does not take is on record all the same', async (t) => {
  const { url, token, calls } = await openDoor(t);
  const headers = { 'mcp-session-id': await openLegacySession(url, token) };
  for (const params of [undefined, {}, { name: 7 }, { name: 'test_echo', arguments: [] }]) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const [message] = (await sendRaw(url, { token, headers, body })).messages;
    assert.ok(message?.error !== undefined, JSON.stringify(message));
  }
  assert.equal(calls.length, 4);
  assert.ok(calls.every(({ violations }) => violations !== undefined));
});

test('names that mean something to JavaScript are ordinary arguments', async (t) => {
  const { url, token, calls } = await openDoor(t);
  const { headers = {} } = modernRequest('tools/call', { name: 'test_echo' });
  const meta = `{"io.modelcontextprotocol/protocolVersion":"${revision}","io.modelcontextprotocol/clientCapabilities":{}}`;
  const args = '{"__proto__":{"polluted":1},"constructor":2,"toString":3}';
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_echo","arguments":${args},"_meta":${meta}}}`;
  const answer = await sendRaw(url, { token, headers, body });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(calls[0]?.input, '{"__proto__":{"polluted":1},"constructor":2,"toString":3}');
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
});

test('a batch of an older client is answered in whole, and one that is too long refused', async (t) => {
  const { url, token, calls } = await openDoor(t);
  const headers = { 'mcp-session-id': await openLegacySession(url, token) };
  const call = (id: number): object => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'test_echo', arguments: { id } },
  });
  const answer = await sendRaw(url, { token, headers, body: JSON.stringify([call(1), call(2), call(3)]) });
  assert.deepEqual(new Set(answer.messages.map(({ id }) => id)), new Set([1, 2, 3]));
  assert.equal(calls.length, 3);
  const many = Array.from({ length: 1000 }, (_, id) => call(id));
  assert.equal((await sendRaw(url, { token, headers, body: JSON.stringify(many) })).status, 400);
  assert.equal(calls.length, 3);
});

test("a client that connects over and over takes the place of its own old sessions, and nobody else's", async (t) => {
  const { url, token, setSession } = await openDoor(t, { limits: { maxSessionsPerOwner: 4, maxSessions: 6 } });
  const other = setSession({ agent: 'bob' });
  const theirs = await openLegacySession(url, other);
  const sessions: string[] = [];
  for (let at = 0; at < 20; at++) sessions.push(await openLegacySession(url, token));
  const ask = (id: string, as = token) =>
    sendRaw(url, { token: as, headers: { 'mcp-session-id': id }, body: listTools });
  assert.equal((await ask(sessions[0] ?? '')).status, 404, 'the oldest has made room');
  assert.equal((await ask(sessions[19] ?? '')).status, 200);
  assert.equal((await ask(theirs, other)).status, 200);

  const third = setSession({ agent: 'carol' });
  await openLegacySession(url, third);
  assert.equal((await sendRaw(url, { token: third, body: initialize })).status, 503, 'there is an end to it for all');
});

test('sessions whose streams are open are not given up, and one more is refused', async (t) => {
  const { url, token } = await openDoor(t, { limits: { maxSessionsPerOwner: 2 } });
  const closing = new AbortController();
  t.after(() => closing.abort());
  // Kept, because the runtime closes the stream of an answer that nobody holds any more.
  const streams: Response[] = [];
  for (let at = 0; at < 2; at++) {
    const headers = {
      authorization: `Bearer ${token}`,
      accept: 'text/event-stream',
      'mcp-session-id': await openLegacySession(url, token),
    };
    streams.push(await fetch(url, { headers, signal: closing.signal }));
  }
  assert.deepEqual(
    streams.map(({ status }) => status),
    [200, 200],
  );
  assert.equal((await sendRaw(url, { token, body: initialize })).status, 503);
  assert.ok(streams.every(({ bodyUsed }) => !bodyUsed));
});

test('sessions that nobody uses are forgotten', async (t) => {
  const { url, token } = await openDoor(t, { limits: { idleMs: 1 } });
  const headers = { 'mcp-session-id': await openLegacySession(url, token) };
  while ((await sendRaw(url, { token, headers, body: listTools })).status !== 404) await setTimeout(100);
});

test('who does not read holds up nobody else', async (t) => {
  const large = 'x'.repeat(900_000);
  const tools = [echo, defineTestTool({ name: 'test.large', run: () => Promise.resolve({ large }) })];
  const { url, token, setSession } = await openDoor(t, { tools });
  const { headers = {}, body = '' } = modernRequest('tools/call', { name: 'test_large', arguments: {} });
  const head = Object.entries({ ...headers, accept: 'application/json, text/event-stream' })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  const socket = connect(Number(url.port), '127.0.0.1');
  t.after(() => socket.destroy());
  socket.pause();
  for (let at = 0; at < 20; at++) {
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n${head}` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.toString()}`,
    );
  }
  const peer = await connectPeer(t, 'v2', { url, token: setSession() });
  for (let at = 0; at < 20; at++) assert.match(textOf(await peer.call('test_echo', { at })), /args/);
});

test('the newer protocol knows no batches, and needs its headers to agree with its message', async (t) => {
  const { url, token } = await openDoor(t);
  const { headers = {}, body = '' } = modernRequest('tools/list');
  assert.equal((await sendRaw(url, { token, headers, body: `[${body.toString()},${body.toString()}]` })).status, 400);
  const lying = { ...headers, 'mcp-method': 'tools/call' };
  assert.equal((await sendRaw(url, { token, headers: lying, body })).status, 400);
  assert.equal(
    (await sendRaw(url, { token, headers: { ...headers, 'content-type': 'text/plain' }, body })).status,
    415,
  );
});

test('HTTP/2 is served like HTTP/1.1', async (t) => {
  const { url, token } = await openDoor(t);
  const session = connectHttp2(url.origin);
  t.after(() => session.close());
  const { headers = {}, body = '' } = modernRequest('tools/call', { name: 'test_echo', arguments: { a: 1 } });
  const stream = session.request({
    ':method': 'POST',
    ':path': '/mcp',
    ...headers,
    authorization: `Bearer ${token}`,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  });
  stream.end(body);
  let text = '';
  for await (const chunk of stream.setEncoding('utf8') as AsyncIterable<string>) text += chunk;
  assert.match(text, /"structuredContent"|"content"/);
});
