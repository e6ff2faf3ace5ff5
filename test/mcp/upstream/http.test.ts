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
import { openWorld, textOf } from './upstream-kit.ts';

interface Asked {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly name?: string; readonly _meta?: { readonly traceparent?: string } };
}

const tools = [
  'echo',
  'trace',
  'large',
  'large_stream',
  'endless',
  'expire',
  'redirect',
  'resume',
  'forget',
  'break',
  'spin',
];

/** Streams that broke, by the id of their last event: which request they belong to, and how often they were asked for. */
const broken = new Map<string, { readonly id: number; asked: number }>();

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
    resume(String(request.headers['last-event-id']), response);
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
  else if (['resume', 'forget', 'break', 'spin'].includes(params?.name ?? ''))
    breakOff(params?.name ?? '', id, response);
  else if (params?.name === 'trace') {
    const { _meta: { traceparent = 'none' } = {} } = params;
    send({ content: [{ type: 'text', text: traceparent }] });
  } else callTool(params?.name ?? '', response, send);
}

function breakOff(name: string, id: number, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const event = name === 'break' ? '' : `id: ${name}\nretry: 1\ndata: \n\n`;
  if (name !== 'break') broken.set(name, { id, asked: 0 });
  response.write(`: begun\n\n${event}`, () => setTimeout(() => response.destroy(), 50));
}

function resume(name: string, response: ServerResponse): void {
  const stream = broken.get(name);
  if (stream === undefined || name === 'forget') {
    response.writeHead(stream === undefined ? 405 : 404).end();
    return;
  }
  stream.asked += 1;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const result = { content: [{ type: 'text', text: 'after all' }] };
  if (name === 'resume') response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id: stream.id, result })}\n\n`);
  response.end(`id: ${name}\ndata: \n\n`);
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

test('the server learns the span of the call, if somebody follows the trace', async (context) => {
  const world = await openWorld(context, { web: { url: await serve(context) } });
  await world.settle('web', 'accept');
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  assert.equal(textOf(await world.call('web.trace', {}, { traceparent })), traceparent);
  assert.equal(textOf(await world.call('web.trace')), 'none');
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

test('an answer whose stream breaks is asked for where it broke off, and the call is not made twice', async (context) => {
  const world = await openWorld(context, { web: { url: await serve(context) } });
  await world.settle('web', 'accept');
  assert.equal(textOf(await world.call('web.resume')), 'after all');
  assert.equal(broken.get('resume')?.asked, 1);
  assert.equal(world.upstreams.find('web')?.trouble, '');
});

test('an answer that the server has no rest of is given up at once, as is one that cannot be asked for', async (context) => {
  const world = await openWorld(context, { web: { url: await serve(context) } });
  await world.settle('web', 'accept');
  for (const tool of ['web.forget', 'web.break']) {
    await assert.rejects(world.call(tool), { code: 'UPSTREAM_UNAVAILABLE' });
    while (world.upstreams.find('web')?.state !== 'connected') await sleep(50);
  }
});

test('a server that ends its streams over and over is asked a few times a second at most', async (context) => {
  const world = await openWorld(context, { web: { url: await serve(context) } });
  await world.settle('web', 'accept');
  const spin = world.call('web.spin', {}, { signal: AbortSignal.timeout(2000) });
  await assert.rejects(spin, { name: 'TimeoutError' });
  const asked = broken.get('spin')?.asked ?? 0;
  assert.ok(asked >= 1 && asked <= 8, String(asked));
});
