import { EventEmitter } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http2';
import { defaultWindowBytes, errorCodes } from './frames.ts';
import type { ErrorCode } from './frames.ts';
import { keepPiece } from '../wire/keep-piece.ts';
import { ReceiveWindow } from './receive-window.ts';
import type { RequestHead } from './request-head.ts';

/** What a stream needs of its connection. */
export interface StreamLink {
  /** The reader takes no more for now. */
  readonly isBehind: boolean;
  /** How much the peer still takes over all streams. */
  readonly sendWindow: number;
  sendHead(stream: Http2Stream, block: Uint8Array, isLast: boolean): void;
  /** Counts against the window of the connection. */
  sendData(stream: Http2Stream, bytes: Uint8Array, isLast: boolean): void;
  sendReset(stream: Http2Stream, code: ErrorCode): void;
  /** Bytes of a body have been read: as many more may come. */
  giveBack(stream: Http2Stream, bytes: number): void;
  /** Tells of `stream.isOver` at the end of this turn. */
  settle(stream: Http2Stream): void;
  /** Wants to be told when the peer or the socket takes more. */
  wait(stream: Http2Stream): void;
}

interface StreamEvents {
  data: [Buffer];
  end: [];
  close: [];
  drain: [];
  finish: [];
}

/**
 * One request and its answer. It is read as a `Readable` is: nothing is handed out before somebody listens for `data`, and
 * nothing while it is paused. `close` is the last event; a request that was broken off has no `end`.
 */
export class Http2Stream {
  readonly id: number;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly httpVersionMajor = 2;
  /** The head is the whole request. */
  readonly endAfterHeaders: boolean;
  headersSent = false;
  /** Nothing more will be said. */
  writableEnded = false;
  /** All of the request was handed out. */
  readableEnded = false;
  /** The caller broke it off. */
  aborted = false;
  /** Nothing more goes out or comes in. */
  closed = false;
  /** How much more the peer takes. Negative: it has taken back what it allowed. */
  sendWindow: number;
  readonly receiveWindow = new ReceiveWindow(defaultWindowBytes);
  /** Of the body, by its header. -1: it does not say. */
  missingBytes = -1;

  readonly #events = new EventEmitter<StreamEvents>();
  readonly #link: StreamLink;
  #arrived: Buffer[] = [];
  #hasArrived: boolean;
  #flows = false;
  /** Until then what comes is kept as it is: mostly the request is whole, and taken at once. */
  #isTold = false;
  #isDelivering = false;
  /** What the peer does not take yet. */
  #unsent: Uint8Array[] = [];
  #trailers: Uint8Array | undefined;
  #isLastSent = false;
  #hasToldFinish = false;
  #wantsDrain = false;

  constructor(link: StreamLink, id: number, head: RequestHead, isWhole: boolean, sendWindow: number) {
    this.#link = link;
    this.id = id;
    this.headers = head.headers;
    this.rawHeaders = head.raw;
    this.endAfterHeaders = isWhole;
    this.#hasArrived = isWhole;
    this.sendWindow = sendWindow;
  }

  get method(): string {
    return this.headers[':method'] ?? '';
  }

  get url(): string {
    return this.headers[':path'] ?? '';
  }

  /** The request has come whole. */
  get complete(): boolean {
    return this.#hasArrived;
  }

  get destroyed(): boolean {
    return this.closed;
  }

  get writableNeedDrain(): boolean {
    return this.#unsent.length > 0 || this.#link.isBehind;
  }

  /** The body, if all of it is here and nothing was handed out: then nobody need listen. */
  takeWhole(): Buffer | undefined {
    if (!this.#hasArrived || this.#flows || this.readableEnded || this.closed) return undefined;
    this.readableEnded = true;
    const arrived = this.#arrived;
    this.#arrived = [];
    const [only] = arrived;
    const body = only === undefined ? nothing : arrived.length === 1 ? only : Buffer.concat(arrived);
    if (body.length > 0) this.#link.giveBack(this, body.length);
    return body;
  }

  on(event: 'data', listener: (chunk: Buffer) => void): this;
  on(event: Exclude<keyof StreamEvents, 'data'>, listener: () => void): this;
  on(event: keyof StreamEvents, listener: (chunk: Buffer) => void): this {
    if (event !== 'data') {
      this.#events.on(event, listener as () => void);
      return this;
    }
    this.#events.on('data', listener);
    return this.resume();
  }

  once(event: Exclude<keyof StreamEvents, 'data'>, listener: () => void): this {
    this.#events.once(event, listener);
    return this;
  }

  off(event: Exclude<keyof StreamEvents, 'data'>, listener: () => void): this {
    this.#events.off(event, listener);
    return this;
  }

  /** Nobody wants the rest of the body: it is read and thrown away. */
  ignoreRest(): void {
    this.#events.removeAllListeners('data');
    this.resume();
  }

  isPaused(): boolean {
    return !this.#flows;
  }

  pause(): this {
    this.#flows = false;
    return this;
  }

  resume(): this {
    if (this.#flows) return this;
    this.#flows = true;
    if (this.#arrived.length > 0 || this.#hasArrived) process.nextTick(() => this.#deliver());
    return this;
  }

  /** Only for the connection. */
  receive(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (this.#flows || !this.#isTold) this.#arrived.push(bytes);
    else keepPiece(this.#arrived, bytes);
    this.#deliver();
  }

  /** Only for the connection: somebody has heard of the request, and has taken what is here, or takes it later. */
  settleIn(): void {
    this.#isTold = true;
    const arrived = this.#arrived;
    if (this.#flows || arrived.length === 0) return;
    this.#arrived = [];
    for (const piece of arrived) keepPiece(this.#arrived, piece);
  }

  /** Only for the connection: nothing more will come. */
  receiveEnd(): void {
    if (this.closed) return;
    this.#hasArrived = true;
    this.#deliver();
    if (this.#isLastSent) this.#close();
  }

  #deliver(): void {
    // A listener may pause and resume.
    if (this.#isDelivering || this.closed) return;
    this.#isDelivering = true;
    try {
      while (this.#flows) {
        const next = this.#arrived.shift();
        if (next === undefined) break;
        this.#link.giveBack(this, next.length);
        this.#events.emit('data', next);
      }
    } finally {
      this.#isDelivering = false;
    }
    if (!this.#flows || !this.#hasArrived || this.readableEnded || this.closed) return;
    this.readableEnded = true;
    this.#events.emit('end');
  }

  /** Something before the answer, that it is still being worked on. */
  inform(block: Uint8Array): void {
    if (!this.closed && !this.headersSent) this.#link.sendHead(this, block, false);
  }

  /** `block` is a head as `encodeFields` writes it. */
  respond(block: Uint8Array, isLast = false): void {
    if (this.closed || this.headersSent) return;
    this.headersSent = true;
    this.#link.sendHead(this, block, isLast);
    if (isLast) this.#finish();
  }

  /** False: wait for `drain`. Keeps the bytes for as long as the peer does not take them. */
  write(bytes: Uint8Array): boolean {
    if (this.closed || this.writableEnded) return true;
    if (bytes.length > 0) this.#unsent.push(bytes);
    this.pump();
    this.#wantsDrain = this.writableNeedDrain;
    if (this.#wantsDrain) this.#link.wait(this);
    return !this.#wantsDrain;
  }

  /** `trailers` is another head. Absent: there are none. */
  end(bytes?: Uint8Array, trailers?: Uint8Array): void {
    if (this.closed || this.writableEnded) return;
    this.writableEnded = true;
    this.#trailers = trailers;
    if (bytes !== undefined && bytes.length > 0) this.#unsent.push(bytes);
    this.pump();
    if (!this.#isLastSent) this.#link.wait(this);
  }

  /** Breaks it off, from this end. Nothing more is handed out. */
  close(code: ErrorCode = errorCodes.cancel): void {
    if (this.closed) return;
    this.#link.sendReset(this, code);
    this.#close();
  }

  destroy(): void {
    this.close(errorCodes.internal);
  }

  /** Only for the connection: the peer has broken it off, or is gone. */
  breakOff(): void {
    if (this.closed) return;
    this.aborted = true;
    this.#close();
  }

  /** Sends what the windows allow and the socket takes. */
  pump(): void {
    const link = this.#link;
    while (!this.closed && !this.#isLastSent) {
      const next = this.#unsent[0];
      if (next === undefined) break;
      const allowed = Math.min(next.length, this.sendWindow, link.sendWindow, mostAtOnce);
      if (allowed <= 0 || link.isBehind) return;
      if (allowed === next.length) this.#unsent.shift();
      else this.#unsent[0] = next.subarray(allowed);
      const isLast = this.writableEnded && this.#unsent.length === 0 && this.#trailers === undefined;
      link.sendData(this, allowed === next.length ? next : next.subarray(0, allowed), isLast);
      if (isLast) return this.#finish();
    }
    if (!this.writableEnded || this.closed || this.#isLastSent) return;
    if (this.#trailers === undefined) link.sendData(this, nothing, true);
    else link.sendHead(this, this.#trailers, true);
    this.#finish();
  }

  /** Only for the connection: the socket takes more, or the windows do. True: it waits for nothing more. */
  proceed(): boolean {
    this.pump();
    if (this.closed) return true;
    if (this.#wantsDrain && !this.writableNeedDrain) {
      this.#wantsDrain = false;
      this.#events.emit('drain');
    }
    return !this.#wantsDrain && this.#unsent.length === 0 && !this.writableEnded;
  }

  /** Only for the connection, once: everybody hears how it ended. */
  tellEnd(): void {
    if (this.#isLastSent) this.#tellFinish();
    this.#events.emit('close');
    this.#events.removeAllListeners();
  }

  #finish(): void {
    this.#isLastSent = true;
    this.writableEnded = true;
    if (this.#hasArrived) this.#close();
    else process.nextTick(() => this.#tellFinish());
  }

  #tellFinish(): void {
    if (this.#hasToldFinish) return;
    this.#hasToldFinish = true;
    this.#events.emit('finish');
  }

  #close(): void {
    this.closed = true;
    let unread = 0;
    for (const { length } of this.#arrived) unread += length;
    if (unread > 0) this.#link.giveBack(this, unread);
    this.#arrived = [];
    this.#unsent = [];
    this.#link.settle(this);
  }
}

const nothing = Buffer.alloc(0);
/** What goes to the socket before it is asked again whether it takes more. */
const mostAtOnce = 64 * 1024;
