import type { Socket } from 'node:net';
import type { Connection } from './connection.ts';
import type { HttpReply } from './http-route.ts';
import { dateNow, describeKeeping, reasonOf } from './wire/answer-head.ts';

type Event = 'close' | 'drain' | 'finish';

const unsafeInHeader = /[^\t\x20-\x7e\x80-\xff]/;

/** The answer to one request on the lane for plain calls: what of `ServerResponse` the routes there need. */
export class LaneReply implements HttpReply {
  readonly #socket: Socket;
  readonly #connection: Connection;
  /** What is to be sent before the next bytes. Undefined: no head was written yet, or it is sent. */
  #head: string | undefined;
  #isChunked = false;
  #hasBegun = false;
  #hasEnded = false;
  /** On the socket, which outlives the answer. Undefined: nobody listens. */
  #listening: [Event, () => void][] | undefined;

  constructor(socket: Socket, connection: Connection) {
    this.#socket = socket;
    this.#connection = connection;
  }

  /** Whether something of the answer is on its way. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get destroyed(): boolean {
    return this.#socket.destroyed;
  }

  get writableEnded(): boolean {
    return this.#hasEnded;
  }

  get writableNeedDrain(): boolean {
    return this.#socket.writableNeedDrain;
  }

  writeHead(status: number, headers: Readonly<Record<string, string | number>>): void {
    let lines = '';
    for (const name in headers) {
      const value = String(headers[name]);
      // As `node:http` does: nobody who chooses a value may begin another line with it.
      if (unsafeInHeader.test(value)) throw new TypeError(`the header ${name} has a character that it must not have`);
      lines += `${name}: ${value}\r\n`;
    }
    this.#isChunked = headers['content-length'] === undefined && status !== 204;
    this.#head = `HTTP/1.1 ${status} ${reasonOf(status)}\r\n${lines}Date: ${dateNow()}\r\n${describeKeeping(this.#connection)}\r\n`;
  }

  flushHeaders(): void {
    const head = this.#takeHead();
    if (head !== '') this.#send(head);
  }

  write(chunk: string | Uint8Array): boolean {
    if (chunk.length === 0) return !this.writableNeedDrain;
    const head = this.#takeHead();
    return this.#send(head, ...(this.#isChunked ? frame(chunk) : [chunk]));
  }

  end(chunk: string | Uint8Array = ''): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const head = this.#takeHead();
    const body = chunk.length === 0 ? [] : this.#isChunked ? frame(chunk) : [chunk];
    this.#send(head, ...body, this.#isChunked ? '0\r\n\r\n' : '');
    for (const [event, listener] of this.#listening ?? []) {
      this.#socket.off(event, listener);
      if (event === 'finish') queueMicrotask(listener);
    }
    this.#listening = undefined;
  }

  on(event: Event, listener: () => void): void {
    (this.#listening ??= []).push([event, listener]);
    if (event !== 'finish') this.#socket.on(event, listener);
  }

  off(event: Event, listener: () => void): void {
    this.#socket.off(event, listener);
    this.#listening = this.#listening?.filter(([on, each]) => on !== event || each !== listener);
  }

  #takeHead(): string {
    const head = this.#head;
    if (head === undefined) return '';
    this.#head = undefined;
    this.#hasBegun = true;
    return `${head}${this.#isChunked ? 'Transfer-Encoding: chunked\r\n' : ''}\r\n`;
  }

  /** In one packet. False: wait for `drain`. */
  #send(...parts: readonly (string | Uint8Array)[]): boolean {
    if (!this.#socket.writable) return true;
    if (parts.every((part) => typeof part === 'string')) return this.#socket.write(parts.join(''));
    return this.#socket.write(
      Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part))),
    );
  }
}

/** A chunk of a body whose length was not said before. */
function frame(chunk: string | Uint8Array): readonly (string | Uint8Array)[] {
  const bytes = typeof chunk === 'string' ? Buffer.byteLength(chunk) : chunk.length;
  return [`${bytes.toString(16)}\r\n`, chunk, '\r\n'];
}
