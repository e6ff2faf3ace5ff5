import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { guardFetch } from './guarded-fetch.ts';

async function serve(context: TestContext, listener: RequestListener): Promise<URL> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
}

const ignore = { onBroken: () => undefined };

test('headers, body and status pass, and a redirect is not followed', async (context) => {
  const url = await serve(context, (request, response) => {
    if (request.url !== '/mcp') response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    else response.writeHead(200, { 'x-said': request.headers['x-asked'] ?? '' }).end(request.method);
  });
  const { fetch, close } = guardFetch(url, ignore);
  const answer = await fetch(url, { method: 'POST', headers: { 'x-asked': 'this' }, body: '{}' });
  assert.deepEqual([answer.status, answer.headers.get('x-said'), await answer.text()], [200, 'this', 'POST']);
  assert.equal((await fetch(new URL('/elsewhere', url))).status, 302);
  close();
});

test('no other origin is asked', async (context) => {
  const url = await serve(context, (_request, response) => response.end());
  const { fetch, close } = guardFetch(url, ignore);
  await assert.rejects(async () => fetch('http://127.0.0.1:1/mcp'), /may only be asked at/);
  close();
});

test('a name that leads to this machine or a private network is not connected to', async () => {
  for (const address of ['127.0.0.1', '10.0.0.5', '169.254.169.254', '::1']) {
    const { fetch, close } = guardFetch(new URL('http://rebound.example/mcp'), {
      ...ignore,
      resolve: async () => [address],
    });
    await assert.rejects(async () => fetch('http://rebound.example/mcp'), { name: 'HostRefused' });
    close();
  }
});

test('an answer that is too large breaks off and says so', async (context) => {
  const chunk = Buffer.alloc(1024 * 1024, 'x');
  const url = await serve(context, (request, response) => {
    const type = request.headers['accept'] === 'stream' ? 'text/event-stream' : 'application/json';
    response.writeHead(200, { 'content-type': type });
    Readable.from(Array.from({ length: 50 }, () => chunk)).pipe(response);
  });
  for (const accept of ['stream', 'json']) {
    const broken: Error[] = [];
    const { fetch, close } = guardFetch(url, { onBroken: (error) => broken.push(error) });
    const answer = await fetch(url, { headers: { accept } });
    await assert.rejects(answer.text());
    assert.match(broken[0]?.message ?? '', /larger than 8 MB/);
    close();
  }
});
