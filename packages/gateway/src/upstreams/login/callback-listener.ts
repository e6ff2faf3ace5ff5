import { timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const path = '/callback';
const headers = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/**
 * Where the browser of a person comes back to after a login: an address on this machine that exists for one login. Only
 * an answer with the right state counts; any page of the web can send a browser here, so others neither end the wait
 * nor learn anything.
 */
export class CallbackListener {
  readonly #server: Server;
  readonly #state: string;
  readonly #answer = Promise.withResolvers<URLSearchParams>();
  #waiting: ServerResponse | undefined;

  private constructor(server: Server, state: string) {
    this.#server = server;
    this.#state = state;
    this.#answer.promise.catch(() => undefined);
  }

  /** Uses any free port when the wanted one is taken, unless only that one is allowed. */
  static async open(options: {
    readonly state: string;
    readonly port: number | undefined;
    readonly isOnlyPort: boolean;
  }): Promise<CallbackListener> {
    const server = createServer({ maxHeaderSize: 16 * 1024, requestTimeout: 10_000 });
    const listener = new CallbackListener(server, options.state);
    server.on('request', (request, response) => listener.#take(request, response));
    for (const port of options.isOnlyPort ? [options.port] : [options.port ?? 0, 0]) {
      try {
        server.listen(port, '127.0.0.1');
        await once(server, 'listening');
        return listener;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      }
    }
    throw new Error(`port ${options.port} of this machine is taken`);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`;
  }

  /** What the authorization server said. Rejects with the reason of the signal. */
  async wait(signal: AbortSignal): Promise<URLSearchParams> {
    const give = (): void => this.#answer.reject(signal.reason);
    if (signal.aborted) give();
    signal.addEventListener('abort', give, { once: true });
    return this.#answer.promise.finally(() => signal.removeEventListener('abort', give));
  }

  /** Tells the person in the browser how it ended, and stops listening. */
  close(outcome: 'done' | 'failed'): void {
    const text =
      outcome === 'done'
        ? 'The login is complete. You can close this page.'
        : 'The login did not succeed. The place where you started it says why.';
    this.#waiting?.writeHead(outcome === 'done' ? 200 : 400, headers).end(page(text));
    this.#server.close();
    this.#server.closeIdleConnections();
    setTimeout(() => this.#server.closeAllConnections(), 1000).unref();
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const url = URL.parse(request.url ?? '', this.url);
    // Another name for this machine would be another site, which web pages can reach.
    const isHere = request.headers.host === new URL(this.url).host && url?.pathname === path;
    if (request.method !== 'GET' || !isHere || !this.#isExpected(url.searchParams) || this.#waiting !== undefined) {
      response.writeHead(isHere ? 400 : 404, headers).end(page('No login waits for this page.'));
      return;
    }
    this.#waiting = response;
    this.#answer.resolve(url.searchParams);
  }

  #isExpected(parameters: URLSearchParams): boolean {
    const names = [...parameters.keys()];
    const given = Buffer.from(parameters.get('state') ?? '');
    const wanted = Buffer.from(this.#state);
    const isOurs = given.length === wanted.length && timingSafeEqual(given, wanted);
    return isOurs && new Set(names).size === names.length;
  }
}

function page(text: string): string {
  return `<!doctype html><meta charset="utf-8"><title>Sallyport</title><p>${text}</p>\n`;
}
