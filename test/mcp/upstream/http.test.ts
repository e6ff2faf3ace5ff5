import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '@sallyport/contract';
import type { ToolFailure } from '../../../packages/gateway/src/model/tool.ts';
import { openWorld, textOf } from './upstream-kit.ts';

interface Asked {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly name?: string };
}

const tools = ['echo', 'large', 'large_stream', 'endless', 'expire', 'redirect'];

/** A server of the older protocol that does what the name of the tool says. */
async function serve(context: TestContext, headers: string[] = []): Promise<string> {
  const server = createServer((request, response) => {
    headers.push(request.headers.authorization ?? '');
    void answer(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') {
    response.writeHead(405).end();
    return;
  }
  let body = '';
  for await (const chunk of request) body += String(chunk);
  const { id, method, params } = JSON.parse(body) as Asked;
  if (id === undefined) {
    response.writeHead(202).end();
    return;
  }
  const send = (result: JsonObject): void => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  };
  if (method === 'initialize') {
    const serverInfo = { name: 'http', version: '1' };
    send({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo });
  } else if (method === 'tools/list') {
    send({ tools: tools.map((name) => ({ name, inputSchema: { type: 'object' } })) });
  } else if (method !== 'tools/call') response.writeHead(400).end();
  else callTool(params?.name ?? '', response, send);
}

function callTool(name: string, response: ServerResponse, send: (result: JsonObject) => void): void {
  const large = 'x'.repeat(50 * 1024 * 1024);
  response.on('error', () => undefined);
  if (name === 'echo') send({ content: [{ type: 'text', text: 'hi' }] });
  else if (name === 'large') send({ content: [{ type: 'text', text: large }] });
  else if (name === 'expire') response.writeHead(404).end();
  else if (name === 'redirect') response.writeHead(307, { location: 'http://169.254.169.254/latest' }).end();
  else {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (name === 'large_stream') response.write(`data: ${large}`);
    else {
      const event = `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}\n\n`;
      const timer = setInterval(() => response.write(event.repeat(1000)), 5);
      response.once('close', () => clearInterval(timer));
    }
  }
}

test('the stored token is sent to the server, and nothing else', async (context) => {
  const headers: string[] = [];
  const url = await serve(context, headers);
  const world = await openWorld(context, { web: { url, bearer_secret: 'TOKEN' } }, { secrets: { TOKEN: 'hush' } });
  await world.settle('web', 'accept');
  assert.equal(textOf(await world.call('web.echo')), 'hi');
  assert.deepEqual([...new Set(headers)], ['Bearer hush']);
});

test('answers that are too large are clear errors, in one piece and as a stream', async (context) => {
  const world = await openWorld(context, { web: { url: await serve(context) } });
  await world.settle('web', 'accept');
  for (const tool of ['web.large', 'web.large_stream']) {
    await assert.rejects(world.call(tool), (error: ToolFailure) => {
      assert.equal(error.code, 'TOO_LARGE', error.message);
      return true;
    });
    while (world.upstreams.find('web')?.state !== 'connected') await sleep(50);
  }
  assert.equal(textOf(await world.call('web.echo')), 'hi');
});

test('an endless stream ends with its call, and the server is used on', async (context) => {
  const world = await openWorld(context, { web: { url: await serve(context) } });
  await world.settle('web', 'accept');
  const endless = world.call('web.endless', {}, { signal: AbortSignal.timeout(1000) });
  endless.catch(() => undefined);
  assert.equal(textOf(await world.call('web.echo')), 'hi');
  await assert.rejects(endless, { name: 'TimeoutError' });
  assert.equal(textOf(await world.call('web.echo')), 'hi');
});

test('a session that the server forgot is opened again, and a redirect elsewhere is not followed', async (context) => {
  const world = await openWorld(context, { web: { url: await serve(context) } });
  await world.settle('web', 'accept');
  for (const tool of ['web.expire', 'web.redirect']) {
    await assert.rejects(world.call(tool), { code: 'UPSTREAM_UNAVAILABLE' });
    while (world.upstreams.find('web')?.state !== 'connected') await sleep(50);
    assert.equal(textOf(await world.call('web.echo')), 'hi');
  }
});
