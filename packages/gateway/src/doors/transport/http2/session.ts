import type { Socket } from 'node:net';
import { BlockJoiner } from './block-joiner.ts';
import type { Block } from './block-joiner.ts';
import { CompressionError } from './compression-error.ts';
import { FaultBudget } from './fault-budget.ts';
import {
  clientPreface,
  ConnectionError,
  defaultTableBytes,
  defaultWindowBytes,
  errorCodes,
  FrameCutter,
  frameFlags,
  frameTypes,
  largestWindowBytes,
  withoutPadding,
} from './frames.ts';
import type { ErrorCode } from './frames.ts';
import { HeadReader } from './head-reader.ts';
import type { RequestHead } from './request-head.ts';
import { Outbox } from './outbox.ts';
import { ReceiveWindow } from './receive-window.ts';
import { describeSettings, readSettings } from './settings.ts';
import { Http2Stream } from './stream.ts';
import type { StreamLink } from './stream.ts';

/** What may come on all streams of a connection together and wait to be read. */
const receiveWindowBytes = 4 * 65_536;
/** Nothing is read from somebody who leaves so much of what was sent lying. */
const mostUnsentBytes = 1024 * 1024;
const mostBrokenOff = 100;
/** How long the peer has to read why it is cut off. */
const goodbyeMs = 1000;

export interface Http2SessionParts {
  readonly socket: Socket;
  readonly maxStreams: number;
  readonly maxListBytes: number;
  /** Called when the whole chunk has been read, so that a short request has come whole. */
  readonly onStream: (stream: Http2Stream) => void;
  /** A request has been answered, or broken off. */
  readonly onStreamEnd: () => void;
  /** What must not happen. Only this connection pays for it. */
  readonly onFault: (error: unknown) => void;
}

/** Serves HTTP/2 on a socket, from its first byte on: see docs/decisions/0025-our-own-http2.md. */
export class Http2Session implements StreamLink {
  readonly #parts: Http2SessionParts;
  readonly #socket: Socket;
  readonly #out: Outbox;
  readonly #heads: HeadReader;
  readonly #cutter = new FrameCutter();
  readonly #faults = new FaultBudget();
  readonly #streams = new Map<number, Http2Stream>();
  #preface: Buffer | undefined = clientPreface;
  #hasSettings = false;
  #isOver = false;
  #isClosing = false;
  #lastId = 0;
  readonly #blocks: BlockJoiner;
  readonly #receiveWindow = new ReceiveWindow(receiveWindowBytes);
  #sendWindow = defaultWindowBytes;
  #firstSendWindow = defaultWindowBytes;
  /** The peer has made the table of headers smaller, and must hear that we know. */
  #isTableDue = false;
  #opened: Http2Stream[] = [];
  #ended: Http2Stream[] = [];
  readonly #waiting = new Set<Http2Stream>();
  /** The peer takes more than before, and nobody has heard of it. */
  #isWider = false;
  /** Something was said since the last ping. */
  #hasSpoken = false;
  /** By us, lately. The peer may still send for them. */
  readonly #brokenOff = new Set<number>();

  constructor(parts: Http2SessionParts) {
    const { socket, maxListBytes } = parts;
    this.#parts = parts;
    this.#socket = socket;
    this.#out = new Outbox(socket, () => this.#tellEnds());
    this.#blocks = new BlockJoiner(2 * maxListBytes);
    this.#heads = new HeadReader({ maxTableBytes: defaultTableBytes, maxListBytes });
  }

  /** Reads the first byte and everything after it. */
  begin(): void {
    const socket = this.#socket;
    this.#out.frame(frameTypes.settings, 0, 0, describeSettings(this.#parts));
    this.#sendWindowUpdate(0, receiveWindowBytes - defaultWindowBytes);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('drain', () => this.#proceed());
    socket.on('close', () => this.#leave());
  }

  get isBehind(): boolean {
    return this.#socket.writableNeedDrain;
  }

  get sendWindow(): number {
    return this.#sendWindow;
  }

  /** Takes no further request, and ends the connection once the open ones are answered. */
  close(): void {
    if (this.#isClosing || this.#isOver) return;
    this.#isClosing = true;
    this.#out.numbers(frameTypes.goAway, 0, this.#lastId, errorCodes.none);
    this.#endWhenDone();
  }

  #receive(chunk: Buffer): void {
    if (this.#isOver) return;
    try {
      const frames = this.#preface === undefined ? chunk : this.#skipPreface(chunk, this.#preface);
      this.#cutter.push(frames, (type, flags, streamId, payload) => {
        this.#take(type, flags, streamId, payload);
        return !this.#isOver;
      });
      for (const stream of this.#takeOpened()) {
        this.#parts.onStream(stream);
        stream.settleIn();
      }
      // Once for all that came: many streams may wait, and each byte more could be a frame of its own.
      if (this.#isWider) this.#proceed();
    } catch (error) {
      if (error instanceof ConnectionError) return this.#fail(error.code);
      if (error instanceof CompressionError) return this.#fail(errorCodes.compression);
      this.#parts.onFault(error);
      return this.#fail(errorCodes.internal);
    }
    if (this.#socket.writableLength > mostUnsentBytes) this.#socket.pause();
  }

  #takeOpened(): Http2Stream[] {
    const opened = this.#opened;
    if (opened.length > 0) this.#opened = [];
    return opened;
  }

  /** Throws ConnectionError. */
  #skipPreface(chunk: Buffer, preface: Buffer): Buffer {
    const length = Math.min(preface.length, chunk.length);
    if (chunk.compare(preface, 0, length, 0, length) !== 0) throw misbehaved('no preface');
    this.#preface = length < preface.length ? preface.subarray(length) : undefined;
    return chunk.subarray(length);
  }

  #take(type: number, flags: number, streamId: number, payload: Buffer): void {
    if (!this.#hasSettings && (type !== frameTypes.settings || (flags & frameFlags.ack) !== 0)) {
      throw misbehaved('no settings first');
    }
    const unfinished = this.#blocks.streamId;
    if (unfinished !== undefined && (type !== frameTypes.continuation || streamId !== unfinished)) {
      throw misbehaved('a header block was not finished');
    }
    switch (type) {
      case frameTypes.data:
        return this.#takeData(flags, streamId, payload);
      case frameTypes.headers:
        if (streamId === 0) throw misbehaved('HEADERS without a stream');
        return this.#takeBlock(this.#blocks.begin(flags, streamId, payload));
      case frameTypes.continuation:
        return this.#takeBlock(this.#blocks.goOn(flags, payload));
      case frameTypes.windowUpdate:
        return this.#takeWindowUpdate(streamId, payload);
      case frameTypes.reset:
        return this.#takeReset(streamId, payload);
      case frameTypes.settings:
        return this.#takeSettings(flags, streamId, payload);
      case frameTypes.ping:
        return this.#takePing(flags, streamId, payload);
      case frameTypes.goAway:
        if (streamId !== 0) throw misbehaved('GOAWAY on a stream');
        if (payload.length < 8) throw wrongSize();
        return this.close();
      case frameTypes.priority:
        if (streamId === 0) throw misbehaved('PRIORITY without a stream');
        if (payload.length !== 5) throw wrongSize();
        return this.#faults.count();
      case frameTypes.pushPromise:
        throw misbehaved('PUSH_PROMISE from a client');
      // What is unknown is for others.
      default:
        return this.#faults.count();
    }
  }

  #takeData(flags: number, streamId: number, payload: Buffer): void {
    if (streamId === 0) throw misbehaved('DATA without a stream');
    const stream = this.#streams.get(streamId);
    // Padding counts as well.
    if (!this.#receiveWindow.take(payload.length)) {
      throw new ConnectionError(errorCodes.flowControl, 'more than the connection takes');
    }
    const bytes = withoutPadding(payload, flags);
    const isLast = (flags & frameFlags.endStream) !== 0;
    if (stream === undefined || stream.complete) {
      this.#giveBackHere(payload.length);
      return this.#takeStray(streamId, stream);
    }
    if (bytes.length === 0 && !isLast) this.#faults.count();
    if (!stream.receiveWindow.take(payload.length)) {
      this.#giveBackHere(payload.length);
      return this.#punish(stream, errorCodes.flowControl);
    }
    if (payload.length > bytes.length) this.giveBack(stream, payload.length - bytes.length);
    if (stream.missingBytes >= 0) {
      stream.missingBytes -= bytes.length;
      if (stream.missingBytes < 0 || (isLast && stream.missingBytes > 0)) {
        this.#giveBackHere(bytes.length);
        return this.#punish(stream, errorCodes.protocol);
      }
    }
    stream.receive(bytes);
    if (isLast) stream.receiveEnd();
  }

  /** Every block is read, whatever becomes of it: the next ones refer to it. */
  #takeBlock(whole: Block | undefined): void {
    if (whole === undefined) return;
    const { streamId, endsStream, bytes } = whole;
    if (streamId <= this.#lastId) return this.#takeTrailers(streamId, endsStream, bytes);
    if (streamId % 2 === 0) throw misbehaved('a stream of a client has an odd number');
    this.#lastId = streamId;
    const head = this.#heads.readRequest(bytes);
    // Who has been told to go may not have heard it yet.
    if (this.#isClosing || this.#streams.size >= this.#parts.maxStreams) {
      this.#faults.count();
      return this.#sendResetOf(streamId, errorCodes.refused);
    }
    if (typeof head === 'string') {
      this.#faults.count();
      return this.#sendResetOf(streamId, head === 'malformed' ? errorCodes.protocol : errorCodes.enhanceYourCalm);
    }
    this.#open(streamId, head, endsStream);
  }

  #open(streamId: number, head: RequestHead, endsStream: boolean): void {
    const length = head.contentLength;
    if (endsStream && length !== undefined && length !== 0) {
      this.#faults.count();
      return this.#sendResetOf(streamId, errorCodes.protocol);
    }
    const stream = new Http2Stream(this, streamId, head, endsStream, this.#firstSendWindow);
    if (length !== undefined) stream.missingBytes = length;
    this.#streams.set(streamId, stream);
    this.#opened.push(stream);
  }

  #takeTrailers(streamId: number, endsStream: boolean, block: Buffer): void {
    const fault = this.#heads.readTrailers(block);
    const stream = this.#streams.get(streamId);
    if (stream === undefined && !this.#brokenOff.has(streamId)) {
      throw new ConnectionError(errorCodes.streamClosed, 'a request on a stream that is over');
    }
    if (stream === undefined || stream.complete) return this.#takeStray(streamId, stream);
    if (fault !== undefined || !endsStream || stream.missingBytes > 0) {
      return this.#punish(stream, errorCodes.protocol);
    }
    stream.receiveEnd();
  }

  /** A frame for a stream on which nothing may come any more. What we have broken off may not have been heard of yet. */
  #takeStray(streamId: number, stream: Http2Stream | undefined): void {
    if (streamId > this.#lastId || streamId % 2 === 0) throw misbehaved('a frame of a stream that was never opened');
    if (this.#brokenOff.has(streamId)) return;
    if (stream !== undefined) return this.#punish(stream, errorCodes.streamClosed);
    this.#faults.count();
    this.#sendResetOf(streamId, errorCodes.streamClosed);
  }

  /** Who makes us break off a request gets no further with that than with breaking it off. */
  #punish(stream: Http2Stream, code: ErrorCode): void {
    this.#faults.count();
    stream.close(code);
  }

  #takeReset(streamId: number, payload: Buffer): void {
    if (payload.length !== 4) throw wrongSize();
    if (streamId === 0 || streamId > this.#lastId) throw misbehaved('RST_STREAM of a stream that was never opened');
    // To open and reset costs us more than them.
    this.#faults.count();
    this.#streams.get(streamId)?.breakOff();
  }

  #takeWindowUpdate(streamId: number, payload: Buffer): void {
    if (payload.length !== 4) throw wrongSize();
    const more = payload.readUInt32BE(0) & 0x7fff_ffff;
    if (streamId === 0) {
      if (more === 0) throw misbehaved('a window of nothing');
      this.#sendWindow += more;
      if (this.#sendWindow > largestWindowBytes) throw new ConnectionError(errorCodes.flowControl, 'too wide a window');
      this.#isWider = true;
      return;
    }
    if (streamId > this.#lastId || streamId % 2 === 0) throw misbehaved('a window of a stream that was never opened');
    const stream = this.#streams.get(streamId);
    if (stream === undefined) return;
    if (more === 0) return this.#punish(stream, errorCodes.protocol);
    stream.sendWindow += more;
    if (stream.sendWindow > largestWindowBytes) return this.#punish(stream, errorCodes.flowControl);
    if (this.#waiting.has(stream) && stream.proceed()) this.#waiting.delete(stream);
  }

  #takeSettings(flags: number, streamId: number, payload: Buffer): void {
    if (streamId !== 0) throw misbehaved('SETTINGS of a stream');
    if ((flags & frameFlags.ack) !== 0) {
      if (payload.length !== 0) throw wrongSize();
      return;
    }
    if (this.#hasSettings) this.#faults.count();
    this.#hasSettings = true;
    const { windowBytes, tableBytes } = readSettings(payload);
    if (tableBytes !== undefined && tableBytes < defaultTableBytes) this.#isTableDue = true;
    if (windowBytes !== undefined) this.#resizeWindows(windowBytes);
    this.#out.frame(frameTypes.settings, frameFlags.ack, 0, nothing);
  }

  #resizeWindows(windowBytes: number): void {
    const more = windowBytes - this.#firstSendWindow;
    this.#firstSendWindow = windowBytes;
    for (const stream of this.#streams.values()) {
      stream.sendWindow += more;
      if (stream.sendWindow > largestWindowBytes) {
        throw new ConnectionError(errorCodes.flowControl, 'too wide a window');
      }
    }
    if (more > 0) this.#isWider = true;
  }

  #takePing(flags: number, streamId: number, payload: Buffer): void {
    if (streamId !== 0) throw misbehaved('PING of a stream');
    if (payload.length !== 8) throw wrongSize();
    if ((flags & frameFlags.ack) !== 0) return;
    // Clients in Go measure the line with every answer.
    if (!this.#hasSpoken) this.#faults.count();
    this.#hasSpoken = false;
    this.#out.frame(frameTypes.ping, frameFlags.ack, 0, payload);
  }

  sendHead({ id }: Http2Stream, block: Uint8Array, isLast: boolean): void {
    this.#out.head(id, this.#isTableDue ? Buffer.concat([emptyTable, block]) : block, isLast);
    this.#isTableDue = false;
    this.#hasSpoken = true;
  }

  sendData(stream: Http2Stream, bytes: Uint8Array, isLast: boolean): void {
    this.#hasSpoken = true;
    this.#sendWindow -= bytes.length;
    stream.sendWindow -= bytes.length;
    this.#out.data(stream.id, bytes, isLast);
  }

  sendReset({ id }: Http2Stream, code: ErrorCode): void {
    this.#sendResetOf(id, code);
  }

  #sendResetOf(streamId: number, code: ErrorCode): void {
    this.#brokenOff.add(streamId);
    for (const oldest of this.#brokenOff) {
      if (this.#brokenOff.size <= mostBrokenOff) break;
      this.#brokenOff.delete(oldest);
    }
    this.#out.numbers(frameTypes.reset, streamId, code);
  }

  #sendWindowUpdate(streamId: number, more: number): void {
    this.#out.numbers(frameTypes.windowUpdate, streamId, more);
  }

  giveBack(stream: Http2Stream, bytes: number): void {
    this.#giveBackHere(bytes);
    if (stream.complete || stream.closed) return;
    const more = stream.receiveWindow.giveBack(bytes);
    if (more > 0) this.#sendWindowUpdate(stream.id, more);
  }

  #giveBackHere(bytes: number): void {
    const more = this.#receiveWindow.giveBack(bytes);
    if (more > 0 && !this.#isOver) this.#sendWindowUpdate(0, more);
  }

  wait(stream: Http2Stream): void {
    this.#waiting.add(stream);
  }

  settle(stream: Http2Stream): void {
    this.#streams.delete(stream.id);
    this.#waiting.delete(stream);
    this.#ended.push(stream);
    this.#out.schedule();
  }

  /** The socket takes more, or the peer does. */
  #proceed(): void {
    this.#isWider = false;
    if (this.#socket.isPaused() && this.#socket.writableLength <= mostUnsentBytes) this.#socket.resume();
    for (const stream of this.#waiting) if (stream.proceed()) this.#waiting.delete(stream);
  }

  #tellEnds(): void {
    const ended = this.#ended;
    if (ended.length === 0) return;
    this.#ended = [];
    for (const stream of ended) stream.tellEnd();
    this.#parts.onStreamEnd();
    this.#endWhenDone();
  }

  #endWhenDone(): void {
    if (!this.#isClosing || this.#isOver || this.#streams.size > 0) return;
    this.#isOver = true;
    this.#hangUp();
    // Who takes the last answers late gets all of them, for as long as the doors wait.
    this.#socket.once('finish', () => this.#cutSoon());
  }

  #fail(code: ErrorCode): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#out.numbers(frameTypes.goAway, 0, this.#lastId, code);
    this.#abandon();
    this.#hangUp();
    this.#cutSoon();
  }

  #hangUp(): void {
    this.#out.flush();
    const socket = this.#socket;
    socket.end();
    // What still comes is thrown away; a socket that is closed with bytes unread would take back our last words.
    socket.resume();
  }

  #cutSoon(): void {
    const socket = this.#socket;
    const cut = setTimeout(() => socket.destroy(), goodbyeMs).unref();
    socket.once('close', () => clearTimeout(cut));
  }

  #leave(): void {
    this.#isOver = true;
    this.#abandon();
  }

  #abandon(): void {
    this.#opened = [];
    for (const stream of this.#streams.values()) stream.breakOff();
  }
}

const nothing = Buffer.alloc(0);
/** In a header block: the table of the sender has no room from now on. */
const emptyTable = Buffer.from([0x20]);

function misbehaved(how: string): ConnectionError {
  return new ConnectionError(errorCodes.protocol, how);
}

function wrongSize(): ConnectionError {
  return new ConnectionError(errorCodes.frameSize, 'a frame has another size than its kind');
}
