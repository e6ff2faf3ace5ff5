import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '@sallyport/contract';
import type { ToolFailure } from '../../../packages/gateway/src/call/tool.ts';
import { openWorld, server, textOf } from './upstream-kit.ts';
import { requirement } from '../../requirement.ts';

const echo = { name: 'echo', inputSchema: { type: 'object' } };

/** A server of the older protocol for each path. One path never answers. */
async function serveMany(context: TestContext): Promise<string> {
  const http = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(http, 'listening');
  context.after(() => {
    http.closeAllConnections();
    http.close();
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url === '/never') return;
  if (request.method !== 'POST') {
    response.writeHead(405).end();
    return;
  }
  let body = '';
  for await (const chunk of request) body += String(chunk);
  const { id, method, params } = JSON.parse(body) as { id?: number; method: string; params: JsonObject };
  if (id === undefined) {
    response.writeHead(202).end();
    return;
  }
  const results: Record<string, JsonObject> = {
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: request.url ?? '', version: '1' },
    },
    'tools/list': { tools: [echo] },
    'tools/call': { content: [{ type: 'text', text: request.url ?? '' }] },
  };
  const result = results[method];
  const said = result === undefined ? { error: { code: -32601, message: 'unknown' } } : { result };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, ...said }));
  void params;
}

test('fifty servers connect side by side, and none waits for the slowest', async (context) => {
  requirement('WIRE-6');
  const address = await serveMany(context);
  const names = Array.from({ length: 49 }, (_, n) => `web-${n}`);
  const files = Object.fromEntries(names.map((name) => [name, { url: `${address}/${name}` }]));
  const world = await openWorld(context, { ...files, slowest: { url: `${address}/never` } });
  await Promise.all(names.map((name) => world.settle(name, 'accept')));
  assert.equal(world.upstreams.find('slowest')?.state, 'connecting');
  const answers = await Promise.all(names.map(async (name) => textOf(await world.call(`${name}.echo`))));
  assert.deepEqual(
    answers,
    names.map((name) => `/${name}`),
  );
});

test('servers that are killed at random under load lose only their own calls', async (context) => {
  requirement('WIRE-6');
  const names = ['one', 'two', 'three', 'four'];
  const world = await openWorld(context, Object.fromEntries(names.map((name) => [name, server('good')])));
  await Promise.all(names.map((name) => world.settle(name, 'accept')));
  const killed = new Set(['two', 'four']);
  const failures = new Map<string, ToolFailure[]>(names.map((name) => [name, []]));
  let isOver = false;
  const load = names.map(async (name) => {
    for (let n = 0; !isOver; n++) {
      try {
        assert.equal(textOf(await world.call(`${name}.echo`, { text: `${name} ${n}` })), `${name} ${n}`);
      } catch (error) {
        failures.get(name)?.push(error as ToolFailure);
        await sleep(20);
      }
    }
  });
  for (let round = 0; round < 2; round++) {
    for (const name of killed) await assert.rejects(world.call(`${name}.exit`), { code: 'UPSTREAM_UNAVAILABLE' });
    while (names.some((name) => world.upstreams.find(name)?.state !== 'connected')) await sleep(20);
    await sleep(200);
  }
  isOver = true;
  await Promise.all(load);
  for (const name of names) {
    const codes = new Set(failures.get(name)?.map(({ code }) => code));
    assert.deepEqual([...codes], killed.has(name) ? ['UPSTREAM_UNAVAILABLE'] : [], name);
  }
});
