import type { HttpReply } from '../transport/http-route.ts';
import type { RequestReply } from './answer-plainly.ts';
import type { ProgressNews } from './progress-sender.ts';

/** How long the head of an answer waits for the answer itself: one that comes sooner goes out whole, in one packet. */
const headWithinMs = 100;
/** Proxies close connections on which nothing comes. */
const keepAliveMs = 15_000;

/** The answer to one request. It is JSON, unless there is something to say before it or it takes long: then events. */
export class PlainReply implements RequestReply {
  readonly #response: HttpReply;
  readonly #headers: Readonly<Record<string, string>>;
  #timer: NodeJS.Timeout | undefined;
  #isStream = false;

  constructor(response: HttpReply, headers: Readonly<Record<string, string>>) {
    this.#response = response;
    this.#headers = headers;
    this.#timer = setTimeout(() => this.#begin(), headWithinMs);
  }

  readonly notify = (news: ProgressNews): Promise<void> => {
    if (!this.#isStream) this.#begin();
    this.#write({ ...news, jsonrpc: '2.0' });
    return Promise.resolve();
  };

  end(message: object): void {
    clearTimeout(this.#timer);
    if (this.#isStream) {
      this.#write(message);
      this.#response.end();
      return;
    }
    const body = JSON.stringify(message);
    this.#response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...this.#headers,
    });
    this.#response.end(body);
  }

  /** Nobody wants the answer any more: what is open ends without one. */
  drop(): void {
    if (!this.#isStream) this.#begin();
    clearTimeout(this.#timer);
    this.#response.end();
  }

  #begin(): void {
    clearTimeout(this.#timer);
    this.#isStream = true;
    this.#timer = setInterval(() => this.#response.write(': keepalive\n\n'), keepAliveMs).unref();
    this.#response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
      ...this.#headers,
    });
    this.#response.flushHeaders();
  }

  #write(message: object): void {
    this.#response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  }
}
