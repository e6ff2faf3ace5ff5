import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';

export interface Arrived {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Another system that webhooks reach. While it is down it answers 503 and keeps nothing. */
export class WebhookReceiver {
  readonly #waiting: ((message: Arrived) => void)[] = [];
  readonly #arrived: Arrived[] = [];
  url = '';
  isUp = true;

  static async open(t: Pick<TestContext, 'after'>): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    const server = createServer((request, response) => void receiver.#receive(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
    return receiver;
  }

  next(): Promise<Arrived> {
    const message = this.#arrived.shift();
    if (message !== undefined) return Promise.resolve(message);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** What has come and was not asked for. */
  get left(): readonly Arrived[] {
    return this.#arrived;
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const message = { headers: request.headers, body: await text(request) };
    response.writeHead(this.isUp ? 200 : 503).end();
    if (!this.isUp) return;
    const next = this.#waiting.shift();
    if (next === undefined) this.#arrived.push(message);
    else next(message);
  }
}
