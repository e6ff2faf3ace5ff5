import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttp2Server } from 'node:http2';
import type { ServerHttp2Stream } from 'node:http2';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { encodeFields } from '../../packages/gateway/src/doors/transport/http2/answer-block.ts';
import { Http2Session } from '../../packages/gateway/src/doors/transport/http2/session.ts';
import { howMuch } from '../harness/how-much.ts';
import { requirement } from '../requirement.ts';

/** What a server made of one request. */
interface Seen {
  readonly id: number;
  readonly fields: readonly string[];
  body: string;
  ended: boolean;
}

interface Peer {
  readonly path: string;
  /** By the number of the connection, which its first request names. */
  readonly seen: Map<string, Seen[]>;
}

const maxStreams = 100;
const maxListBytes = 16_384;

interface Listened {
  readonly id?: number | undefined;
  /** Node ends a stream that was broken off as well. */
  readonly aborted: boolean;
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
}

function watch(peer: Peer, fields: readonly string[], stream: Listened, answer: () => void): void {
  const number = fields[fields.indexOf('x-connection') + 1] ?? '';
  const request: Seen = { id: stream.id ?? 0, fields, body: '', ended: false };
  peer.seen.set(number, [...(peer.seen.get(number) ?? []), request]);
  stream.on('data', (chunk) => (request.body += chunk.toString('latin1')));
  stream.on('end', () => {
    if (stream.aborted) return;
    request.ended = true;
    answer();
  });
}

async function openPeers(test: TestContext): Promise<{ ours: Peer; nodes: Peer }> {
  const folder = mkdtempSync(join(tmpdir(), 'as-node-'));
  const sockets = new Set<Socket>();
  const ours: Peer = { path: join(folder, 'ours'), seen: new Map() };
  const nodes: Peer = { path: join(folder, 'nodes'), seen: new Map() };
  const faults: unknown[] = [];
  const head = encodeFields({ ':status': 200 });
  const own = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    const session = new Http2Session({
      socket,
      maxStreams,
      maxListBytes,
      onStream: (stream) =>
        watch(ours, stream.rawHeaders, stream, () => {
          stream.respond(head);
          stream.end(Buffer.from('answer'));
        }),
      onStreamEnd: () => {},
      onFault: (error) => faults.push(error),
    });
    session.begin();
  });
  const settings = { maxConcurrentStreams: maxStreams, maxHeaderListSize: maxListBytes };
  const node = createHttp2Server({ settings });
  node.on('session', (session) => {
    sockets.add(session.socket);
    session.on('error', () => {});
  });
  node.on('stream', (stream: ServerHttp2Stream, _headers: unknown, _flags: unknown, raw: string[]) => {
    stream.on('error', () => {});
    watch(nodes, raw, stream, () => {
      if (stream.destroyed) return;
      stream.respond({ ':status': 200 });
      stream.end('answer');
    });
  });
  own.listen(ours.path);
  node.listen(nodes.path);
  await Promise.all([once(own, 'listening'), once(node, 'listening')]);
  test.after(() => {
    for (const socket of sockets) socket.destroy();
    own.close();
    node.close();
    rmSync(folder, { recursive: true });
    assert.deepEqual(faults, []);
  });
  return { ours, nodes };
}

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

function frame(type: number, flags: number, streamId: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, payload]);
}

function oneOf<Item>(items: readonly [Item, ...Item[]]): Item {
  return items[randomInt(items.length)] ?? items[0];
}

function oneIn(count: number): boolean {
  return randomInt(count) === 0;
}

/** With and without a place in the table. */
function writeField(name: string, value: string): Buffer {
  const text = (of: string): Buffer => Buffer.concat([Buffer.from([of.length]), Buffer.from(of, 'latin1')]);
  return Buffer.concat([Buffer.from([oneOf([0x00, 0x10, 0x40])]), text(name), text(value)]);
}

function plainField(): Buffer {
  return writeField(oneOf(['x-a', 'x-b', 'cookie', 'accept', '__proto__']), oneOf(['1', 'some text', '']));
}

const oddFields: readonly [() => Buffer, ...(() => Buffer)[]] = [
  plainField,
  // Those of the table that earlier requests have left there, or that it never had.
  () => Buffer.from([0x80 | oneOf([15, 16, 19, 31, 62, 63, 64, 65, 70])]),
  () => writeField('te', oneOf(['trailers', 'gzip'])),
  () => writeField('content-length', oneOf(['0', '5', '10', '+5', ' 5', '5,5'])),
  () =>
    writeField(
      oneOf(['connection', 'Upper', 'transfer-encoding', 'host', ':path', ':other', 'a b']),
      oneOf(['x', '/', ' x']),
    ),
];

function writeHead(connection: string, isOdd: boolean): Buffer {
  const block = [
    Buffer.from([0x83, 0x86]),
    writeField(':path', isOdd ? oneOf(['/', '*', 'relative']) : oneOf(['/', '/other?x=1'])),
    writeField(':authority', 'localhost'),
    writeField('x-connection', connection),
  ];
  for (let count = randomInt(4); count > 0; count--) block.push((isOdd ? oneOf(oddFields) : plainField)());
  return Buffer.concat(block);
}

/** A block of headers in one frame or in several, with whatever may stand around it. */
function sendHead(streamId: number, block: Buffer, ends: boolean): Buffer[] {
  const cut = oneIn(4) ? randomInt(block.length) : block.length;
  let first = block.subarray(0, cut);
  let flags = (ends ? 1 : 0) | (cut === block.length ? 4 : 0);
  if (oneIn(4)) {
    first = Buffer.concat([Buffer.from([0, 0, 0, 0, 16]), first]);
    flags |= 0x20;
  }
  if (oneIn(4)) {
    const padding = randomInt(20);
    first = Buffer.concat([Buffer.from([padding]), first, Buffer.alloc(padding)]);
    flags |= 0x08;
  }
  const frames = [frame(1, flags, streamId, first)];
  if (cut < block.length) frames.push(frame(9, 4, streamId, block.subarray(cut)));
  return frames;
}

function sendData(streamId: number, bytes: Buffer, ends: boolean): Buffer {
  if (!oneIn(4)) return frame(0, ends ? 1 : 0, streamId, bytes);
  const padding = randomInt(20);
  const payload = Buffer.concat([Buffer.from([padding]), bytes, Buffer.alloc(padding)]);
  return frame(0, 8 | (ends ? 1 : 0), streamId, payload);
}

/** A few requests, one in the other, mostly as the rules have it. */
function inventFrames(connection: string): { readonly frames: Buffer[]; readonly odd: ReadonlySet<number> } {
  const frames = [frame(4, 0, 0, Buffer.alloc(0)), ...sendHead(1, plainHead(connection), true)];
  const odd = new Set<number>();
  const open: number[] = [];
  let nextId = 3;
  for (let step = randomInt(1, 25); step > 0; step--) {
    const id = open.length > 0 ? open[randomInt(open.length)] : undefined;
    const kind = randomInt(12);
    if (id === undefined || kind < 3) {
      const ends = oneIn(2);
      const isOdd = oneIn(4);
      if (isOdd) odd.add(nextId);
      frames.push(...sendHead(nextId, writeHead(connection, isOdd), ends));
      if (!ends) open.push(nextId);
      nextId += oneIn(8) ? 4 : 2;
    } else if (kind < 8) {
      const ends = oneIn(2);
      frames.push(sendData(id, Buffer.alloc(oneOf([0, 1, 5, 5, 10, 300]), 'abcde'), ends));
      if (ends) open.splice(open.indexOf(id), 1);
    } else if (kind === 8) {
      frames.push(...sendHead(id, writeField('x-end', 'yes'), !oneIn(8)));
      open.splice(open.indexOf(id), 1);
    } else if (kind === 9) {
      frames.push(frame(3, 0, id, Buffer.from([0, 0, 0, 8])));
      open.splice(open.indexOf(id), 1);
    } else if (kind === 10) {
      frames.push(frame(8, 0, oneOf([0, id]), Buffer.from([0, 0, 1, oneIn(8) ? 0 : 1])));
    } else {
      frames.push(
        oneOf([frame(6, 0, 0, Buffer.alloc(8)), frame(99, 0, id, Buffer.alloc(3)), frame(2, 0, id, Buffer.alloc(5))]),
      );
    }
  }
  return { frames, odd };
}

function plainHead(connection: string): Buffer {
  const text = (of: string): Buffer => Buffer.concat([Buffer.from([of.length]), Buffer.from(of)]);
  return Buffer.concat([
    Buffer.from([0x83, 0x86, 0x84]),
    Buffer.from([0x01]),
    text('localhost'),
    Buffer.from([0x00]),
    text('x-connection'),
    text(connection),
  ]);
}

/** Sends it, in pieces of any size, and waits until all of it was looked at. False: the connection was lost before. */
async function send(path: string, bytes: Buffer): Promise<boolean> {
  const socket = connect(path);
  socket.on('error', () => {});
  await once(socket, 'connect');
  let came = Buffer.alloc(0) as Buffer;
  const done = new Promise<boolean>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      came = Buffer.concat([came, chunk]);
      if (came.includes(lastPong)) resolve(true);
    });
    socket.on('close', () => resolve(false));
    // A length with a wrong byte may promise what never comes.
    setTimeout(resolve, 1000, false).unref();
  });
  for (let at = 0; at < bytes.length;) {
    const size = oneIn(3) ? randomInt(1, 30) : randomInt(1, 2000);
    socket.write(bytes.subarray(at, at + size));
    at += size;
    if (oneIn(10)) await new Promise(setImmediate);
  }
  const survived = await done;
  socket.destroy();
  return survived;
}

const mark = Buffer.from('lastping');
const lastPong = frame(6, 1, 0, mark);

describe('HTTP/2 of our own and that of Node', () => {
  it('make the same requests of the same bytes', async (test) => {
    requirement('WIRE-3');
    const { ours, nodes } = await openPeers(test);
    let compared = 0;
    let lost = 0;
    const run = async (): Promise<void> => {
      // No number: a wrong byte would make it that of another connection.
      const connection = randomBytes(6).toString('hex');
      const { frames, odd } = inventFrames(connection);
      const bytes = Buffer.concat([preface, ...frames, frame(6, 0, 0, mark)]);
      const isBent = oneIn(10);
      if (isBent) bytes[randomInt(bytes.length)] = randomInt(256);
      const [here, there] = await Promise.all([send(ours.path, bytes), send(nodes.path, bytes)]);
      const [mine, theirs] = [take(ours, connection), take(nodes, connection)];
      const context = (): string =>
        `${bytes.toString('hex')}\n${JSON.stringify({ here, there, mine, theirs }, null, 1)}`;
      // Who hangs up earlier has seen fewer, and what is odd may be refused here and not there: none is another one.
      for (const request of mine) {
        const other = theirs.find(({ id }) => id === request.id);
        if (other !== undefined || (here && there)) assert.deepEqual(request, other, context());
      }
      if (here && there && !isBent) {
        compared++;
        const isPlain = ({ id }: Seen): boolean => !odd.has(id);
        assert.deepEqual(mine.filter(isPlain), theirs.filter(isPlain), context());
      } else {
        lost++;
      }
      // Node gives up the whole connection for some of what is wrong with one request.
      if (here && !there && !isBent && odd.size === 0) assert.fail(`only Node lost the connection\n${context()}`);
    };
    const rounds = howMuch({ usually: 300, long: 100_000 });
    for (let round = 0; round < rounds; round += 10) {
      await Promise.all(Array.from({ length: 10 }, run));
    }
    test.diagnostic(`${compared} connections compared, ${lost} lost at one end or both`);
    assert.ok(compared > rounds / 3);
  });
});

/** Those that were ended; the others differ in how far each end had read. */
function take(peer: Peer, connection: string): Seen[] {
  const seen = peer.seen.get(connection) ?? [];
  peer.seen.delete(connection);
  return seen.filter(({ ended }) => ended).sort((a, b) => a.id - b.id);
}
