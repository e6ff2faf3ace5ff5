import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { requirement } from '../../requirement.ts';
import { openTestDoor } from './door-kit.ts';
import { connectPeer, peerKinds, textOf } from './peers.ts';
import { defineTestTool, endlessTool } from './test-tools.ts';

for (const kind of peerKinds) {
  test(`a call that ${kind} cancels is cancelled in the tool`, async (t) => {
    requirement('WIRE-5');
    const { tool, begun, cancelled } = endlessTool();
    const door = await openTestDoor(t, { tools: [tool] });
    const peer = await connectPeer(t, kind, { url: door.url, token: door.setSession() });
    const leaving = new AbortController();
    const call = peer.call('test_endless', {}, { signal: leaving.signal });
    await begun;
    leaving.abort();
    await assert.rejects(call);
    await cancelled;
  });

  test(`progress reaches ${kind} while the call runs, and its number rises`, async (t) => {
    requirement('WIRE-5');
    const door = await openTestDoor(t, {
      tools: [
        defineTestTool({
          name: 'test.steps',
          run: async (_, { reportProgress }) => {
            for (let done = 0; done < 300; done++) {
              reportProgress({ kind: 'step', done, total: 300, message: `step ${done}` });
              reportProgress({ kind: 'stderr', text: `line ${done}\n` });
              await setTimeout(1);
            }
            return {};
          },
        }),
      ],
    });
    const peer = await connectPeer(t, kind, { url: door.url, token: door.setSession() });
    const seen: { progress: number; total?: number; message?: string }[] = [];
    await peer.call('test_steps', {}, { onprogress: (progress) => void seen.push(progress) });
    const numbers = seen.map(({ progress }) => progress);
    assert.ok(numbers.length >= 3, `${numbers.length} messages`);
    assert.ok(numbers.length < 100, 'what comes too quickly is put together');
    assert.deepEqual(
      numbers,
      [...new Set(numbers)].sort((a, b) => a - b),
    );
    assert.ok(seen.some(({ message = '' }) => message.includes('line')));
  });
}

test('a client that goes away takes its calls with it', async (t) => {
  requirement('WIRE-5');
  const { tool, begun, cancelled } = endlessTool();
  const door = await openTestDoor(t, { tools: [tool] });
  const token = door.setSession();
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const params = { name: 'test_endless', arguments: {}, _meta: meta };
  const sent = request(door.url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'test_endless',
    },
  });
  sent.on('error', () => undefined);
  sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }));
  await begun;
  sent.destroy();
  await cancelled;
});

test('text of a tool without an output schema is given as it is', async (t) => {
  const door = await openTestDoor(t, {
    tools: [defineTestTool({ name: 'test.text', run: () => Promise.resolve('plain words') })],
  });
  const peer = await connectPeer(t, 'v2', { url: door.url, token: door.setSession() });
  const result = await peer.call('test_text', {});
  assert.equal(textOf(result), 'plain words');
  assert.equal(result.structuredContent, undefined);
});

test('what a client says about a call reaches the gate, and what is malformed is refused there', async (t) => {
  requirement('WIRE-5');
  const door = await openTestDoor(t, {
    tools: [defineTestTool({ name: 'test.text', run: () => Promise.resolve('words') })],
  });
  const peer = await connectPeer(t, 'v2', { url: door.url, token: door.setSession() });
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  await peer.call(
    'test_text',
    { n: 1 },
    {
      meta: {
        traceparent,
        'sallyport/dedupe_key': 'k',
        'sallyport/request_id': 'r-7',
        'sallyport/task_id': 't',
        'sallyport/correlation_id': 'c',
        'sallyport/timeout_ms': 500,
      },
    },
  );
  const [call] = door.calls;
  assert.equal(call?.toolName, 'test.text');
  assert.equal(call.input, '{"n":1}');
  assert.equal(call.traceparent, traceparent);
  assert.deepEqual([call.dedupeKey, call.requestId, call.taskId, call.correlationId], ['k', 'r-7', 't', 'c']);
  assert.equal(call.timeoutMs, 500);
  assert.equal(call.waitMs, 45_000, 'clients cut calls off near 60 s');

  const refused = await peer.call('test_text', {}, { meta: { 'sallyport/dedupe_key': 7 } });
  assert.match(textOf(refused), /MALFORMED_CALL/);
  assert.equal(door.calls.at(-1)?.violations?.[0]?.field, '_meta.sallyport/dedupe_key');
});
