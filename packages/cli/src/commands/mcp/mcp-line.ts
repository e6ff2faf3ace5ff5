import type { Socket } from 'node:net';
import { connect } from 'node:net';
import type { Target } from '@sallyport/contract/http-transport';
import {
  FrameSplitter,
  marks,
  messageLine,
  mostRequests,
  readFrame,
  writeFrame,
} from '@sallyport/contract/message-line';

/** `declined`: the daemon did nothing with it, so it is to be posted. `lost`: nobody knows what became of it. */
export type LineEnd = 'answered' | 'declined' | 'lost';

export interface LineParts {
  readonly target: Target;
  /** Of the request that asks for the line. */
  readonly headers: string;
  /** Takes one message or several, a line each. A promise resolves when there is room for more. */
  readonly write: (messages: string) => Promise<void> | undefined;
}

const mostAnswerBytes = 64 * 1024 * 1024;
const mostHeadBytes = 16 * 1024;
const openWithinMs = 10_000;
const headEnd = '\r\n\r\n';

/** Many requests over one connection to the daemon: see docs/decisions/0024-a-line-of-messages.md. */
export class McpLine {
  readonly #socket: Socket;
  readonly #write: LineParts['write'];
  readonly #frames = new FrameSplitter(mostAnswerBytes);
  readonly #open = new Map<number, (end: LineEnd) => void>();
  #lastNumber = 0;
  #isRetired = false;
  /** Frames that go out at the end of this turn. */
  #unsent = '';

  private constructor(socket: Socket, write: LineParts['write']) {
    this.#socket = socket;
    this.#write = write;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('end', () => socket.destroy());
    socket.on('close', () => {
      for (const end of this.#takeAll()) end('lost');
    });
  }

  /** Undefined: the daemon speaks no such thing here, or not with this caller. */
  static open({ target, headers, write }: LineParts): Promise<McpLine | undefined> {
    const { promise, resolve } = Promise.withResolvers<McpLine | undefined>();
    const socket = connect(target);
    socket.setNoDelay(true);
    const asked = `GET ${messageLine.path} HTTP/1.1\r\n${headers}connection: Upgrade\r\nupgrade: ${messageLine.protocol}\r\n\r\n`;
    socket.write(asked);
    const giveUp = (): void => {
      socket.destroy();
      resolve(undefined);
    };
    const timer = setTimeout(giveUp, openWithinMs);
    socket.on('error', () => undefined);
    socket.once('close', giveUp);
    let head: Buffer = Buffer.alloc(0);
    const look = (chunk: Buffer): void => {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf(headEnd);
      if (end < 0 && head.length < mostHeadBytes) return;
      clearTimeout(timer);
      socket.off('data', look);
      // Nothing of it is asked for before this, so nothing can follow the head.
      if (!head.subarray(0, 13).equals(Buffer.from('HTTP/1.1 101 ')) || end + headEnd.length !== head.length) giveUp();
      else resolve(new McpLine(socket, write));
    };
    socket.on('data', look);
    return promise.finally(() => clearTimeout(timer));
  }

  get isConnected(): boolean {
    return !this.#isRetired && this.#socket.writable;
  }

  /** Whether it takes one more request. */
  get isOpen(): boolean {
    return this.isConnected && this.#open.size < mostRequests;
  }

  /** `onEnd` is called once, unless the request is cancelled by the function that is returned. */
  send(message: string, onEnd: (end: LineEnd) => void): () => void {
    const number = (this.#lastNumber += 1);
    this.#open.set(number, onEnd);
    this.#post(writeFrame(number, marks.message, message));
    return () => {
      if (this.#open.delete(number)) this.#post(writeFrame(number, marks.ended));
    };
  }

  /** Takes no further request, and closes once those that it has are answered. */
  retire(): void {
    this.#isRetired = true;
    if (this.#open.size === 0) this.#socket.destroy();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #post(frame: string): void {
    if (this.#unsent === '') process.nextTick(this.#flush);
    this.#unsent += frame;
  }

  readonly #flush = (): void => {
    const frames = this.#unsent;
    this.#unsent = '';
    this.#socket.write(frames);
  };

  #receive(chunk: Buffer): void {
    const lines = this.#frames.split(chunk);
    let messages = '';
    const ended: (() => void)[] = [];
    for (const line of lines ?? []) {
      const frame = readFrame(line);
      // What was cancelled has no reader any more.
      const onEnd = frame === undefined ? undefined : this.#open.get(frame.number);
      if (frame === undefined || onEnd === undefined) continue;
      const { number, mark, json } = frame;
      if (mark === marks.message || mark === marks.news) messages += messages === '' ? json : `\n${json}`;
      if (mark === marks.news) continue;
      this.#open.delete(number);
      ended.push(() => onEnd(mark === marks.message ? 'answered' : mark === marks.declined ? 'declined' : 'lost'));
    }
    const written = messages === '' ? undefined : this.#write(messages);
    if (written !== undefined) {
      this.#socket.pause();
      void written.then(() => this.#socket.resume());
    }
    for (const end of ended) end();
    if (lines === undefined || (this.#isRetired && this.#open.size === 0)) this.#socket.destroy();
  }

  #takeAll(): readonly ((end: LineEnd) => void)[] {
    const all = [...this.#open.values()];
    this.#open.clear();
    return all;
  }
}
