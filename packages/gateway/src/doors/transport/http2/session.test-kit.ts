import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import type { ClientHttp2Session } from 'node:http2';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { encodeFields } from './answer-block.ts';
import { Http2Session } from './session.ts';
import type { Http2Stream } from './stream.ts';

/** Sessions behind one socket. */
export interface Server {
  readonly path: string;
  readonly sessions: Http2Session[];
  readonly faults: unknown[];
}

/** Sessions on a socket of the file system. A server that saw a fault of its own fails the test. */
export async function openServer(test: TestContext, onStream: (stream: Http2Stream) => void = echo): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'http2-'));
  const path = join(folder, 'socket');
  const sessions: Http2Session[] = [];
  const faults: unknown[] = [];
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => {});
    const onFault = (error: unknown): void => void faults.push(error);
    const onStreamEnd = (): void => {};
    const parts = { socket, maxStreams: 100, maxListBytes: 16_384, onStream, onStreamEnd, onFault };
    const session = new Http2Session(parts);
    sessions.push(session);
    session.begin();
  });
  server.listen(path);
  await once(server, 'listening');
  test.after(() => {
    for (const socket of open) socket.destroy();
    server.close();
    rmSync(folder, { recursive: true });
    assert.deepEqual(faults, []);
  });
  return { path, sessions, faults };
}

export const head = encodeFields({ ':status': 200, 'content-type': 'text/plain' });

/** Answers with what came, when all of it is here. */
export function echo(stream: Http2Stream): void {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk) => chunks.push(chunk));
  stream.on('end', () => {
    stream.respond(head);
    stream.end(Buffer.concat(chunks), encodeFields({ 'x-bytes': String(Buffer.concat(chunks).length) }));
  });
}

export function openClient(test: TestContext, path: string): ClientHttp2Session {
  const client = connectHttp2('http://localhost', { createConnection: () => connect(path) });
  client.on('error', () => {});
  test.after(() => client.destroy());
  return client;
}
