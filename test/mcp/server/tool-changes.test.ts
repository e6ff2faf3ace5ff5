import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { leaseOf } from '../../../packages/gateway/src/stages/facts.test-kit.ts';
import { requirement } from '../../requirement.ts';
import { openTestDoor } from './door-kit.ts';
import type { TestDoor } from './door-kit.ts';
import { connectPeer, peerKinds } from './peers.ts';
import type { PeerKind } from './peers.ts';
import { defineTestTool } from './test-tools.ts';

const toolNamed = (name: string, more: object = {}) =>
  defineTestTool({ name, run: () => Promise.resolve({}), ...more });

/** A client that listens, and how many changes it was notified of. */
async function listen(t: TestContext, kind: PeerKind, door: TestDoor, token: string) {
  const told = { times: 0 };
  const peer = await connectPeer(t, kind, { url: door.url, token }, { onToolsChanged: () => void told.times++ });
  const names = async (): Promise<string[]> => (await peer.listTools()).map(({ name }) => name);
  const awaitChange = async (change: () => void): Promise<string[]> => {
    const before = told.times;
    change();
    while (told.times === before) await setTimeout(20, undefined, { signal: t.signal });
    return names();
  };
  return { names, awaitChange, told };
}

/** Well before it would look again although nothing seems to have changed. */
const soon = { timeout: 45_000 };

for (const kind of peerKinds) {
  test(
    `${kind} is told when tools, rules, the mode, the organisation or the lease change what it may call`,
    soon,
    async (t) => {
      requirement('WIRE-5');
      const tools = [toolNamed('test.a'), toolNamed('test.b', { allowedModes: ['NORMAL'] }), toolNamed('test.d')];
      const door = await openTestDoor(t, { tools });
      const id = door.setSession();
      const { names, awaitChange } = await listen(t, kind, door, id);
      // Older clients open the stream for such news after they have connected.
      await setTimeout(kind === 'v2' ? 0 : 200);
      assert.deepEqual(await names(), ['test_a', 'test_b', 'test_d']);
      assert.deepEqual(await awaitChange(() => door.revoke('test.d')), ['test_a', 'test_b']);
      assert.deepEqual(await awaitChange(() => door.registry.replaceSource('test', [...tools, toolNamed('test.c')])), [
        'test_a',
        'test_b',
        'test_c',
      ]);
      assert.deepEqual(await awaitChange(() => door.setRules('second', (tool) => tool !== 'test.a')), [
        'test_b',
        'test_c',
      ]);
      assert.deepEqual(await awaitChange(() => door.setMode('ALERT')), ['test_c']);
      assert.deepEqual(
        await awaitChange(() => void door.setSession({ id, lease: leaseOf({ id: 'other', tools: ['nothing'] }) })),
        [],
      );
    },
  );
}

test("a change that is another session's is not told", async (t) => {
  const door = await openTestDoor(t, { tools: [toolNamed('test.a')] });
  const [ada, bob] = [door.setSession(), door.setSession({ agent: 'bob' })];
  const listeners = await Promise.all([listen(t, 'v2', door, ada), listen(t, 'v2', door, bob)]);
  await listeners[0].awaitChange(
    () => void door.setSession({ id: ada, lease: leaseOf({ id: 'other', tools: ['nothing'] }) }),
  );
  assert.equal(listeners[1].told.times, 0);
});

test('what differs for operators only is not listed for agents, nor what is not accepted yet', async (t) => {
  const door = await openTestDoor(t, {
    tools: [
      toolNamed('test.mine'),
      toolNamed('test.operators', { audience: 'operator' }),
      {
        ...toolNamed('test.new'),
        explainUnusable: () => ({ kind: 'refusal', code: 'TOOL_NOT_ACCEPTED', rule: { id: 'pin' }, message: 'new' }),
      },
    ],
  });
  const peer = await connectPeer(t, 'v2', { url: door.url, token: door.setSession() });
  assert.deepEqual(
    (await peer.listTools()).map(({ name }) => name),
    ['test_mine'],
  );
});

test('a tool with a name that clients do not take is left out alone', async (t) => {
  const door = await openTestDoor(t, { tools: [toolNamed('test.a'), toolNamed(`test.${'x'.repeat(80)}`)] });
  const peer = await connectPeer(t, 'v2', { url: door.url, token: door.setSession() });
  assert.deepEqual(
    (await peer.listTools()).map(({ name }) => name),
    ['test_a'],
  );
});

test('a tool is called by the name under which it is listed, and other names of it reach the gate as they are', async (t) => {
  const door = await openTestDoor(t, { tools: [toolNamed('test.a', { aliases: ['alias_a'] })] });
  const peer = await connectPeer(t, 'v2', { url: door.url, token: door.setSession() });
  for (const name of ['test_a', 'test.a', 'alias_a', 'test.a@1.0.0']) await peer.call(name, {});
  assert.deepEqual(
    door.calls.map(({ toolName }) => toolName),
    ['test.a', 'test.a', 'alias_a', 'test.a@1.0.0'],
  );
});

for (const kind of peerKinds) {
  test(`the stream of ${kind} ends with its session`, async (t) => {
    const door = await openTestDoor(t, { tools: [toolNamed('test.a')] });
    const id = door.setSession();
    const method = kind === 'v2' ? 'subscription' : 'stream';
    const ended = openStream(door, id, kind === 'v2');
    const stream = await ended;
    assert.equal(stream.status, 200, method);
    door.setSession({ id, status: 'ended' });
    const reader = stream.body?.getReader();
    while ((await reader?.read())?.done === false) continue;
  });
}

for (const kind of peerKinds) {
  test(`a change while ${kind} does not listen is told when it listens again`, soon, async (t) => {
    requirement('WIRE-5');
    const door = await openTestDoor(t, { tools: [toolNamed('test.a')] });
    const id = door.setSession();
    const isModern = kind === 'v2';
    // The door may take a while to notice that the stream was closed, and believe that it was heard.
    for (let pauseMs = 50; ; pauseMs *= 2) {
      await (await openStream(door, id, isModern)).body?.cancel();
      await setTimeout(pauseMs, undefined, { signal: t.signal });
      door.registry.replaceSource('test', [toolNamed(`test.b${pauseMs}`)]);
      if (await hearsOfChange(await openStream(door, id, isModern))) return;
    }
  });
}

/** Whether the stream tells of a change, after many times the time in which the door looks for one. */
async function hearsOfChange({ body }: Response): Promise<boolean> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  const enough = setTimeout(2500, { done: true, value: '' }, { ref: false });
  let heard = '';
  for (;;) {
    const { done = true, value = '' } = (await Promise.race([reader?.read(), enough])) ?? {};
    heard += value;
    const isTold = heard.includes('notifications/tools/list_changed');
    if (!isTold && !done) continue;
    await reader?.cancel();
    return isTold;
  }
}

async function openStream(door: TestDoor, token: string, isModern: boolean): Promise<Response> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const revision = '2026-07-28';
  if (isModern) {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': revision,
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const params = { notifications: { toolsListChanged: true }, _meta: meta };
    return fetch(door.url, {
      method: 'POST',
      headers: { ...headers, 'mcp-protocol-version': revision, 'mcp-method': 'subscriptions/listen' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params }),
    });
  }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } };
  const opened = await fetch(door.url, {
    method: 'POST',
    headers,
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  });
  await opened.text();
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
  return fetch(door.url, { headers: { ...headers, ...session } });
}
