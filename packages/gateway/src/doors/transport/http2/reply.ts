import type { OutgoingHttpHeaders } from 'node:http';
import type { HttpReply } from '../http-route.ts';
import { dateNow } from '../wire/answer-head.ts';
import { encodeFields } from './answer-block.ts';
import { errorCodes } from './frames.ts';
import type { Http2Stream } from './stream.ts';

/** The answer to a request of HTTP/2, for those who also answer those of HTTP/1.1. */
export class Http2Reply implements HttpReply {
  readonly #stream: Http2Stream;
  /** What is to be sent before the next bytes. Undefined: no head was written yet, or it is sent. */
  #head: Buffer | undefined;
  #hasHead = false;

  constructor(stream: Http2Stream) {
    this.#stream = stream;
  }

  /** The head is written, though it may not be sent. */
  get headersSent(): boolean {
    return this.#hasHead;
  }

  get destroyed(): boolean {
    return this.#stream.closed;
  }

  get writableEnded(): boolean {
    return this.#stream.writableEnded;
  }

  get writableNeedDrain(): boolean {
    return this.#stream.writableNeedDrain;
  }

  writeProcessing(): void {
    this.#stream.inform(processing);
  }

  /** Throws TypeError for a header that must not be sent. */
  writeHead(status: number, headers: OutgoingHttpHeaders): void {
    const fields: Record<string, string | number | readonly string[]> = { ':status': status, date: dateNow() };
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) fields[name.toLowerCase()] = value;
    this.#head = encodeFields(fields);
    this.#hasHead = true;
  }

  flushHeaders(): void {
    const head = this.#head;
    if (head === undefined) return;
    this.#head = undefined;
    // Whoever asks for the head only takes anything else for an error.
    this.#stream.respond(head, this.#stream.method === 'HEAD');
  }

  write(chunk: string | Uint8Array): boolean {
    this.flushHeaders();
    return this.#stream.write(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  }

  end(chunk: string | Uint8Array = ''): void {
    this.flushHeaders();
    this.#stream.end(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
    if (!this.#stream.complete) this.#stream.resume();
  }

  destroy(): void {
    this.#stream.close(errorCodes.internal);
  }

  on(event: 'close' | 'drain' | 'finish', listener: () => void): void {
    this.#stream.on(event, listener);
  }

  once(event: 'close' | 'drain' | 'finish', listener: () => void): void {
    this.#stream.once(event, listener);
  }

  off(event: 'close' | 'drain' | 'finish', listener: () => void): void {
    this.#stream.off(event, listener);
  }
}

const processing = encodeFields({ ':status': 102 });
