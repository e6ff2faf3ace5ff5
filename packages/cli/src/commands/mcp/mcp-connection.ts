import type { Socket } from 'node:net';
import { connect } from 'node:net';
import type { Target } from '@sallyport/contract/http-transport';

/** The head of an answer, and its body as it comes. The connection is free when all of the body was read. */
export interface HttpAnswer {
  readonly status: number;
  /** By their names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: AsyncGenerator<Buffer>;
}

const mostHeadBytes = 64 * 1024;
const lineEnd = Buffer.from('\r\n');
const headEnd = Buffer.from('\r\n\r\n');

/**
 * A connection to the daemon for one request at a time, which is kept. It speaks just enough HTTP/1.1 for the daemon's
 * own answers: that takes a third of the time of an HTTP client for all servers.
 */
export class McpConnection {
  readonly #socket: Socket;
  readonly #onFree: () => void;
  /** What has come and was not looked at yet. */
  #rest: Buffer = Buffer.alloc(0);
  #wake: () => void = () => undefined;
  #error: Error | undefined;

  /** `onFree` is called when the connection may be used again, `onClose` when it is gone. */
  constructor(target: Target, { onFree, onClose }: { readonly onFree: () => void; readonly onClose: () => void }) {
    this.#onFree = onFree;
    this.#socket = connect(target);
    this.#socket.setNoDelay(true);
    this.#socket.on('readable', () => this.#wake());
    this.#socket.on('end', () => this.#wake());
    this.#socket.on('close', () => {
      onClose();
      this.#wake();
    });
    this.#socket.on('error', (error) => (this.#error = error));
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed && !this.#socket.readableEnded && this.#error === undefined;
  }

  /** Rejects with the error of the system. Aborting closes the connection, by which the daemon cancels the call. */
  async ask(request: string, signal: AbortSignal): Promise<HttpAnswer> {
    const abort = (): void => this.destroy();
    signal.addEventListener('abort', abort);
    const leave = (): void => signal.removeEventListener('abort', abort);
    try {
      this.#socket.write(request);
      const { status, headers } = this.#parseHead((await this.#readUntil(headEnd)).toString('latin1'));
      return { status, headers, body: this.#readBody(status, headers, leave) };
    } catch (error) {
      leave();
      this.destroy();
      throw error;
    }
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #parseHead(head: string): Omit<HttpAnswer, 'body'> {
    const [statusLine = '', ...lines] = head.split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})(?: |$)/.exec(statusLine)?.[1]);
    if (Number.isNaN(status)) throw this.#fail('the daemon did not answer in HTTP');
    const headers = new Map<string, string>();
    for (const line of lines) {
      const colon = line.indexOf(':');
      headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
    }
    return { status, headers };
  }

  async *#readBody(status: number, headers: HttpAnswer['headers'], leave: () => void): AsyncGenerator<Buffer> {
    let isWhole = false;
    try {
      const length = headers.get('content-length');
      if (headers.get('transfer-encoding') === 'chunked') yield* this.#readChunks();
      else if (length !== undefined) yield* this.#readBytes(Number(length));
      else if (status !== 204) throw this.#fail('the daemon did not say how long its answer is');
      isWhole = true;
    } finally {
      // The next user of the connection must not be cut off by the one before.
      leave();
      if (isWhole && headers.get('connection') !== 'close' && this.#rest.length === 0) this.#onFree();
      else this.destroy();
    }
  }

  async *#readChunks(): AsyncGenerator<Buffer> {
    for (;;) {
      const size = /^[0-9a-fA-F]{1,8}(?=;|$)/.exec((await this.#readUntil(lineEnd)).toString('latin1'))?.[0];
      if (size === undefined) throw this.#fail('the daemon sent a chunk without its size');
      if (Number.parseInt(size, 16) === 0) break;
      yield* this.#readBytes(Number.parseInt(size, 16));
      await this.#readUntil(lineEnd);
    }
    while ((await this.#readUntil(lineEnd)).length > 0) continue;
  }

  async *#readBytes(count: number): AsyncGenerator<Buffer> {
    for (let left = count; left > 0;) {
      if (this.#rest.length === 0) await this.#receive();
      const part = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(part.length);
      left -= part.length;
      yield part;
    }
  }

  async #readUntil(end: Buffer): Promise<Buffer> {
    for (;;) {
      const at = this.#rest.indexOf(end);
      if (at >= 0) {
        const found = this.#rest.subarray(0, at);
        this.#rest = this.#rest.subarray(at + end.length);
        return found;
      }
      if (this.#rest.length > mostHeadBytes) throw this.#fail('the daemon sent a head that is too long');
      await this.#receive();
    }
  }

  /** Adds what comes next to the rest. Nothing is read before it is asked for, so that a slow client slows the daemon. */
  async #receive(): Promise<void> {
    for (;;) {
      const chunk = this.#socket.read() as Buffer | null;
      if (chunk !== null) {
        this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
        return;
      }
      if (this.#error !== undefined) throw this.#error;
      if (!this.isOpen) throw new Error('the connection ended before the answer did');
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  #fail(why: string): Error {
    this.destroy();
    return new Error(why);
  }
}
