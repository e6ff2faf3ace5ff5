import type { ClientRequest, RequestOptions } from 'node:http';
import type { Transport } from './transport.ts';

/** Where the gate listens: a unix socket, or a port. */
export type Target =
  | { readonly path: string }
  | { readonly host: string; readonly port: number; readonly isSecure?: boolean };

export interface HttpOptions {
  /** Keeps connections for further requests. */
  readonly keepAlive: boolean;
  /** The `Host` of the requests. Absent: host and port of the target. */
  readonly hostHeader?: string;
}

/** Over a unix socket or TCP. Not by `fetch`, which gives up on answers that take longer than five minutes. */
export function overHttp(target: Target, { keepAlive, hostHeader }: HttpOptions): Transport {
  const isSecure = 'host' in target && target.isSecure === true;
  // As a module, node:http would read every export of it, and load the whole fetch stack behind some of them: 35 ms.
  const { Agent, request } = process.getBuiltinModule(isSecure ? 'node:https' : 'node:http');
  const agent = new Agent({ keepAlive });
  const where: RequestOptions & { servername?: string } = {
    ...('path' in target ? { socketPath: target.path } : { host: target.host, port: target.port }),
    // Without it the agent compiles a large expression to see whether the host is an IP address: 7 ms.
    ...(isSecure ? {} : { servername: '' }),
  };
  return {
    post: ({ path, headers, body, signal }) =>
      new Promise((resolve, reject) => {
        const options = { ...where, agent, path, method: 'POST', ...(signal === undefined ? {} : { signal }) };
        const host = hostHeader === undefined ? {} : { host: hostHeader };
        const head = { ...host, ...headers, 'content-length': body.length };
        const sent: ClientRequest = request({ ...options, headers: head });
        sent.on('error', reject);
        sent.on('response', (response) => {
          resolve({ status: response.statusCode ?? 0, body: response as AsyncIterable<Buffer> });
        });
        sent.end(body);
      }),
    close: () => agent.destroy(),
  };
}
