import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { TestDaemon } from '../../harness/daemon.ts';
import { connectPeer, factsOf, peerKinds, textOf } from './peers.ts';
import type { CallResult } from './peers.ts';

const inspector = join(import.meta.dirname, '../../../node_modules/.bin/mcp-inspector');

let daemon: TestDaemon;
before(async () => {
  daemon = await TestDaemon.start();
});
after(() => daemon.remove());

const large = 'x'.repeat(1_500_000);

for (const kind of peerKinds) {
  test(`a result that is too large for an answer is a resource that ${kind} can read`, async (t) => {
    writeFileSync(join(daemon.place.workspace, 'large.txt'), large);
    const token = await daemon.newAgent(`reader-${peerKinds.indexOf(kind)}`);
    const peer = await connectPeer(t, kind, { url: new URL('/mcp', daemon.address), token });
    await peer.listTools();
    const result = await peer.call('files_read', { path: 'large.txt' });
    assert.notEqual(result.isError, true);
    const link = result.content.find(({ type }) => type === 'resource_link');
    assert.match(link?.uri ?? '', /^sallyport:\/\/content\/[0-9a-f]{64}$/);
    const { contents } = await peer.readResource(link?.uri ?? '');
    assert.deepEqual(result.structuredContent?.['kept'], {
      uri: link?.uri,
      hash: link?.uri?.slice(-64),
      size_bytes: Buffer.byteLength(JSON.stringify(JSON.parse(contents[0]?.text ?? ''))),
    });
    assert.match(textOf(result), /read that resource/);
    assert.equal((JSON.parse(contents[0]?.text ?? '') as { content: string }).content, large);

    const stranger = await connectPeer(t, kind, {
      url: new URL('/mcp', daemon.address),
      token: await daemon.newAgent('stranger'),
    });
    await assert.rejects(stranger.readResource(link?.uri ?? ''), /not found/i);
    await assert.rejects(peer.readResource('sallyport://content/nothing'), /not found/i);
    await assert.rejects(peer.readResource('file:///etc/passwd'), /not found/i);
  });
}

test('a call is on record with the trace and the request that the client named', async (t) => {
  writeFileSync(join(daemon.place.workspace, 'small.txt'), 'small');
  const peer = await connectPeer(t, 'v1', {
    url: new URL('/mcp', daemon.address),
    token: await daemon.newAgent('tracer'),
  });
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const result = await peer.call(
    'files_read',
    { path: 'small.txt' },
    {
      meta: { traceparent: `00-${traceId}-b7ad6b7169203331-01` },
    },
  );
  const { call_id: callId, trace_id: trace, request_id: requestId } = factsOf(result);
  assert.equal(trace, traceId);
  const records = (await daemon.records()).filter((record) => record.callId === callId);
  assert.ok(records.length >= 2, 'an intent and an outcome');
  assert.ok(
    records.some(({ payload }) => payload['request_id'] === requestId),
    JSON.stringify(records),
  );
  assert.match(String(requestId), /:\d+$/, 'the id of JSON-RPC is part of it');
});

test('the inspector lists and calls tools, over HTTP and over stdio', async () => {
  writeFileSync(join(daemon.place.workspace, 'small.txt'), 'small');
  const token = await daemon.newAgent('inspector');
  const program = join(import.meta.dirname, '../../../packages/cli/bin/sallyport.mjs');
  const http = [`${daemon.address}/mcp`, '--transport', 'http', '--header', `Authorization: Bearer ${token}`];
  // It keeps a list of servers in the home of its user.
  const env = { PATH: process.env['PATH'] ?? '', HOME: daemon.place.folder };
  const settings = [`SALLYPORT_HOME=${daemon.place.home}`, `SALLYPORT_TOKEN=${token}`];
  const stdio = [...settings.flatMap((each) => ['-e', each]), process.execPath, program, 'mcp'];
  for (const way of [http, stdio]) {
    const run = (...args: string[]): unknown => {
      const { stdout, stderr, status } = spawnSync(process.execPath, [inspector, '--cli', ...way, ...args], {
        ...{ encoding: 'utf8', env, timeout: 60_000 },
      });
      assert.equal(status, 0, stdout + stderr);
      return JSON.parse(stdout);
    };
    const { tools } = run('--method', 'tools/list') as { tools: { name: string }[] };
    assert.ok(tools.some(({ name }) => name === 'files_read'));
    const read = ['--method', 'tools/call', '--tool-name', 'files_read', '--tool-arg', 'path=small.txt'];
    assert.equal((run(...read) as CallResult).structuredContent?.['content'], 'small');
  }
});
