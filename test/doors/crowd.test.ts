import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { TestDaemon } from '../harness/daemon.ts';
import { requirement } from '../requirement.ts';
import { askJson, openSocket, readSocket } from './http-exchange.ts';
import { greeting, writeFrame, writeHead } from './http2-frames.ts';

const mebibyte = 1024 * 1024;

async function startDaemon(context: TestContext, maxDescriptors?: number): Promise<TestDaemon> {
  const limits = maxDescriptors === undefined ? {} : { maxDescriptors };
  const daemon = await TestDaemon.start(undefined, {}, limits);
  context.after(() => daemon.remove());
  return daemon;
}

/** Connects so many times without a credential and then says nothing. */
async function crowd(context: TestContext, daemon: TestDaemon, count: number): Promise<readonly Socket[]> {
  const port = Number(new URL(daemon.address).port);
  const sockets: Socket[] = [];
  context.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (let begun = 0; begun < count; begun += 100) {
    sockets.push(...(await Promise.all(Array.from({ length: 100 }, () => openSocket(port)))));
  }
  return sockets;
}

async function write(daemon: TestDaemon, token: string, path: string): Promise<void> {
  const answer = await daemon.call('files.write', { path, content: path }, { token });
  assert.ok(answer.success !== undefined, JSON.stringify(answer));
}

test('2,600 connections without a credential shut out no agent, old or new', async (context) => {
  requirement('NFR-4');
  const daemon = await startDaemon(context);
  const token = await daemon.newAgent('ada');
  // This connection stays open, and is used again.
  await write(daemon, token, 'before.txt');
  const idle = await crowd(context, daemon, 2600);
  await write(daemon, token, 'during.txt');
  // Over a connection of its own, which has no credential either until the request has come.
  const message = { name: 'files.write', inputJson: JSON.stringify({ path: 'new.txt', content: 'new' }) };
  const headers = { authorization: `Bearer ${await daemon.newAgent('bob')}` };
  const { json } = await askJson(Number(new URL(daemon.address).port), message, { headers });
  assert.ok(json['success'] !== undefined, JSON.stringify(json));
  assert.ok(idle.some(({ destroyed }) => !destroyed));
});

test('with few descriptors a crowd of connections leaves enough for the log', async (context) => {
  requirement('NFR-4');
  const daemon = await startDaemon(context, 1024);
  const token = await daemon.newAgent('ada');
  await crowd(context, daemon, 1200);
  for (let n = 0; n < 5; n++) await write(daemon, token, `${n}.txt`);
  assert.deepEqual(await (await fetch(`${daemon.address}/healthz`)).json(), { status: 'serving' });
  const descriptors = Number(/^Max open files\s+(\d+)/m.exec(readLimits(daemon))?.[1]);
  assert.equal(descriptors, 1024);
});

test('large bodies without a credential are not read, whatever protocol they come by', async (context) => {
  requirement('NFR-4');
  const daemon = await startDaemon(context);
  const port = Number(new URL(daemon.address).port);
  const before = peakBytes(daemon);
  const send = async (path: string, type: string): Promise<string> => {
    const socket = await openSocket(port);
    const answer = readSocket(socket);
    const head = [`POST ${path} HTTP/1.1`, `host: 127.0.0.1:${port}`, `content-type: ${type}`];
    socket.write(`${[...head, 'transfer-encoding: chunked'].join('\r\n')}\r\n\r\n`);
    const chunk = Buffer.concat([
      Buffer.from(`${mebibyte.toString(16)}\r\n`),
      Buffer.alloc(mebibyte, '{'),
      Buffer.from('\r\n'),
    ]);
    for (let sent = 0; sent < 130 && !socket.destroyed; sent++) {
      if (!socket.write(chunk)) {
        await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), answer]);
      }
    }
    socket.destroy();
    return (await answer).split('\r\n')[0] ?? '';
  };
  const answers = await Promise.all([
    send('/sallyport.v1.ToolService/ExecuteTool', 'application/json'),
    send('/sallyport.v1.ToolProtocolService/Execute', 'application/json'),
    send('/v1/calls', 'application/json'),
    send('/mcp', 'application/json'),
  ]);
  assert.deepEqual(new Set(answers), new Set(['HTTP/1.1 401 Unauthorized']));
  const grown = peakBytes(daemon) - before;
  // Of 520 MiB that were sent.
  assert.ok(grown < 260 * mebibyte, `the daemon grew by ${Math.round(grown / mebibyte)} MiB`);
  const refused = (await daemon.records()).filter(({ result }) => result === 'denied');
  assert.ok(refused.length > 0, 'the attempts are on record');
});

test('a byte of a body does not hold the 64 KB that were read with it', async (context) => {
  requirement('NFR-4');
  const daemon = await startDaemon(context);
  const port = Number(new URL(daemon.address).port);
  const socket = await openSocket(port);
  socket.resume();
  const send = (...frames: Buffer[]) =>
    new Promise<void>((resolve, reject) => {
      socket.write(Buffer.concat(frames), (error) => (error ? reject(error) : resolve()));
    });
  const head = (path: string): Buffer => writeHead(port, path, { 'content-type': 'application/grpc' });
  const [unread, ...ids] = Array.from({ length: 401 }, (_, at) => 2 * at + 1);
  await send(greeting);
  // What comes on a path where nothing is, is thrown away.
  await send(writeFrame(1, 4, unread ?? 0, head('/nothing')));
  for (const id of ids) await send(writeFrame(1, 4, id, head('/sallyport.v1.ToolService/ExecuteTool')));
  const before = peakBytes(daemon);
  const filler = Buffer.alloc(4 * 15_909, writeFrame(0, 0, unread ?? 0, Buffer.alloc(15_900)));
  for (let round = 0; round < 16; round++) {
    for (const id of ids) await send(writeFrame(0, 0, id, Buffer.alloc(1)), filler);
  }
  assert.deepEqual(await (await fetch(`${daemon.address}/healthz`)).json(), { status: 'serving' });
  assert.equal(socket.destroyed, false);
  socket.destroy();
  const grown = peakBytes(daemon) - before;
  // Of 388 MiB that were sent. How much of it is garbage at most depends on how busy the machine is.
  assert.ok(grown < 260 * mebibyte, `the daemon grew by ${Math.round(grown / mebibyte)} MiB`);
});

function readLimits(daemon: TestDaemon): string {
  return readFileSync(`/proc/${daemon.process.pid}/limits`, 'utf8');
}

function peakBytes(daemon: TestDaemon): number {
  const status = readFileSync(`/proc/${daemon.process.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}
