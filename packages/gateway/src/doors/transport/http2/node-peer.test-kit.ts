import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, performServerHandshake } from 'node:http2';
import type { ClientHttp2Session, IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Session } from 'node:http2';
import { duplexPair } from 'node:stream';
import type { Duplex } from 'node:stream';

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const frameHeadBytes = 9;
const frameTypes = { headers: 1, reset: 3, settings: 4, goAway: 7, continuation: 9 } as const;
const flags = { endStream: 0x01, endHeaders: 0x04, padded: 0x08, priority: 0x20 } as const;

interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** What one end of a session says, frame by frame. */
class FrameCutter {
  #bytes = Buffer.alloc(0);

  *push(chunk: Buffer): Generator<Frame> {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    if (this.#bytes.subarray(0, preface.length).equals(preface)) this.#bytes = this.#bytes.subarray(preface.length);
    while (this.#bytes.length >= frameHeadBytes) {
      const end = frameHeadBytes + this.#bytes.readUIntBE(0, 3);
      if (this.#bytes.length < end) return;
      const [type = 0, frameFlags = 0] = this.#bytes.subarray(3);
      const payload = this.#bytes.subarray(frameHeadBytes, end);
      yield { type, flags: frameFlags, stream: this.#bytes.readUInt32BE(5), payload };
      this.#bytes = this.#bytes.subarray(end);
    }
  }
}

function makeFrame({ type, flags: frameFlags, stream, payload }: Frame): Buffer {
  const head = Buffer.alloc(frameHeadBytes);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(frameFlags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** What a server of `node:http2` makes of one block. */
export interface NodeHead {
  readonly headers: Record<string, unknown>;
  readonly raw: readonly string[];
}

/** A client and a server of `node:http2`, and what the client sends to that server, block by block. */
export class NodePair {
  readonly blocks: Buffer[] = [];
  readonly heads: NodeHead[] = [];
  readonly #client: ClientHttp2Session;
  readonly #server: ServerHttp2Session;

  constructor() {
    const [clientEnd, clientLine] = duplexPair();
    const [serverEnd, serverLine] = duplexPair();
    this.#record(clientLine);
    clientLine.pipe(serverLine);
    serverLine.pipe(clientLine);
    this.#server = performServerHandshake(serverEnd);
    this.#server.on('stream', (stream, headers, _flags, raw: string[]) => {
      this.heads.push(describeHead(headers, raw));
      stream.on('trailers', (trailers: IncomingHttpHeaders, _: number, rawTrailers: string[]) => {
        this.heads.push(describeHead(trailers, rawTrailers));
      });
      stream.resume().respond({ ':status': 204 }, { endStream: true });
    });
    this.#client = connect('http://peer', { createConnection: () => clientEnd });
  }

  /** Resolves when it has been answered. */
  async request(headers: OutgoingHttpHeaders, trailers?: OutgoingHttpHeaders): Promise<void> {
    const stream = this.#client.request(headers, { waitForTrailers: trailers !== undefined });
    if (trailers !== undefined) stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    const closed = once(stream, 'close');
    stream.resume().end();
    await closed;
  }

  /** From the next request on, the client has to do with a table of this size. */
  async resizeTable(headerTableSize: number): Promise<void> {
    const told = once(this.#client, 'remoteSettings');
    this.#server.settings({ headerTableSize });
    await told;
  }

  close(): void {
    this.#client.destroy();
    this.#server.destroy();
  }

  #record(line: Duplex): void {
    const cutter = new FrameCutter();
    let block: Buffer[] = [];
    line.on('data', (chunk: Buffer) => {
      for (const frame of cutter.push(chunk)) {
        if (frame.type !== frameTypes.headers && frame.type !== frameTypes.continuation) continue;
        assert.equal(frame.flags & (flags.padded | flags.priority), 0);
        block.push(frame.payload);
        if ((frame.flags & flags.endHeaders) === 0) continue;
        this.blocks.push(Buffer.concat(block));
        block = [];
      }
    });
  }
}

/** Reset: only this stream. Lost: the whole connection, and a new one is there for the next block. */
export type NodeVerdict = NodeHead | 'reset' | 'lost';

/** Enough for a run of tests, and fewer than a session takes before it thinks itself attacked. */
const mostStreams = 400;

/** A server of `node:http2` that is sent blocks made by hand. */
export class NodeServer {
  #line: Duplex | undefined;
  #session: ServerHttp2Session | undefined;
  #stream = 1;
  #waiting: ((verdict: NodeVerdict) => void) | undefined;
  readonly #maxHeaderListSize: number;

  constructor(maxHeaderListSize = 65535) {
    this.#maxHeaderListSize = maxHeaderListSize;
  }

  /** One at a time. */
  async judge(block: Buffer): Promise<NodeVerdict> {
    if (this.#line === undefined || this.#stream > 2 * mostStreams) this.#open();
    this.#stream += 2;
    return await this.#send(block, flags.endHeaders);
  }

  /** Of a second block on one stream. The first is a head that is accepted. */
  async judgeTrailers(head: Buffer, trailers: Buffer): Promise<NodeVerdict> {
    const verdict = await this.judge(head);
    assert.equal(typeof verdict, 'object');
    return await this.#send(trailers, flags.endHeaders | flags.endStream);
  }

  close(): void {
    this.#session?.destroy();
    this.#line?.destroy();
    this.#line = undefined;
  }

  #send(payload: Buffer, frameFlags: number): Promise<NodeVerdict> {
    return new Promise((resolve) => {
      this.#waiting = resolve;
      this.#line?.write(makeFrame({ type: frameTypes.headers, flags: frameFlags, stream: this.#stream, payload }));
    });
  }

  #settle(verdict: NodeVerdict): void {
    if (verdict === 'lost') this.close();
    this.#waiting?.(verdict);
    this.#waiting = undefined;
  }

  #open(): void {
    this.close();
    this.#stream = 1;
    const [end, line] = duplexPair();
    const session = performServerHandshake(end, {
      maxSessionInvalidFrames: 2 * mostStreams,
      maxSessionRejectedStreams: 2 * mostStreams,
      settings: { maxHeaderListSize: this.#maxHeaderListSize },
    });
    session.on('error', () => {});
    session.on('stream', (stream, headers, _flags, raw: string[]) => {
      stream.on('error', () => {});
      stream.on('trailers', (trailers: IncomingHttpHeaders, _: number, rawTrailers: string[]) => {
        this.#settle(describeHead(trailers, rawTrailers));
        stream.close();
      });
      stream.resume();
      this.#settle(describeHead(headers, raw));
    });
    const cutter = new FrameCutter();
    line.on('data', (chunk: Buffer) => {
      for (const { type, stream } of cutter.push(chunk)) {
        if (type === frameTypes.goAway) this.#settle('lost');
        else if (type === frameTypes.reset && stream === this.#stream) this.#settle('reset');
      }
    });
    line.write(preface);
    line.write(makeFrame({ type: frameTypes.settings, flags: 0, stream: 0, payload: Buffer.alloc(0) }));
    this.#line = line;
    this.#session = session;
  }
}

/** Which headers are sensitive stands under a symbol, which is left away. */
function describeHead(headers: IncomingHttpHeaders, raw: readonly string[]): NodeHead {
  return { headers: Object.fromEntries(Object.entries(headers)), raw };
}

/** Each field as a literal that is not indexed, whether it may be sent or not. Texts under 127 bytes. */
export function encodeLiterals(fields: readonly string[]): Buffer {
  const bytes: number[] = [];
  for (let at = 0; at < fields.length; at += 2) {
    bytes.push(0, ...encodeText(fields[at] ?? ''), ...encodeText(fields[at + 1] ?? ''));
  }
  return Buffer.from(bytes);
}

function encodeText(text: string): number[] {
  assert.ok(text.length < 127);
  return [text.length, ...Buffer.from(text, 'latin1')];
}
