import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';

/** Where the gate listens. */
export type Target = { readonly socketPath: string } | { readonly address: URL };

export interface Question {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
  /** Aborting closes the connection, by which the daemon cancels the call. */
  readonly signal?: AbortSignal;
}

export interface Reply {
  readonly status: number;
  /** As it comes. Leaving it before its end closes the connection. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Sends one POST. Rejects when there is no answer. */
export interface Exchange {
  readonly post: (question: Question) => Promise<Reply>;
  readonly close: () => void;
}

/** Over a unix socket or TCP. Not by `fetch`, which gives up on answers that take longer than five minutes. */
export function exchangeOverHttp(target: Target): Exchange {
  const isSecure = 'address' in target && target.address.protocol === 'https:';
  // As a module, node:http would load the whole fetch stack behind some of its exports.
  const { Agent, request } = process.getBuiltinModule(isSecure ? 'node:https' : 'node:http');
  const agent = new Agent({ keepAlive: true });
  const where: RequestOptions =
    'address' in target
      ? { hostname: unbracket(target.address.hostname), port: target.address.port }
      : { socketPath: target.socketPath };
  return {
    post: ({ path, headers, body, signal }) =>
      new Promise((resolve, reject) => {
        const options = { ...where, agent, path, method: 'POST', ...(signal === undefined ? {} : { signal }) };
        const sent: ClientRequest = request({ ...options, headers: { ...headers, 'content-length': body.length } });
        sent.on('error', reject);
        sent.on('response', (response: IncomingMessage) => {
          resolve({ status: response.statusCode ?? 0, body: response as AsyncIterable<Buffer> });
        });
        sent.end(body);
      }),
    close: () => agent.destroy(),
  };
}

/** For places without node:http, and for tests. */
export function exchangeOverFetch(address: URL, fetch: typeof globalThis.fetch): Exchange {
  return {
    post: async ({ path, headers, body, signal }) => {
      const response = await fetch(new URL(path, address), {
        method: 'POST',
        headers,
        body,
        // A credential goes to the address that was given and nowhere else.
        redirect: 'error',
        ...(signal === undefined ? {} : { signal }),
      });
      return { status: response.status, body: response.body ?? new ReadableStream<Uint8Array>() };
    },
    close: () => undefined,
  };
}

/** URLs write IPv6 addresses in brackets, sockets do not. */
function unbracket(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}
