import { request as openRequest } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import type { ProxyRequest } from './parse-proxy-request.ts';
import { keepEndToEnd } from './proxied-headers.ts';

/**
 * Forwards a request over its own connection and passes the answer back. Both messages are parsed and written again, so
 * the other side reads exactly what the gate has read. Closes `upstream` on every path.
 *
 * Failure: rejects when no answer came; an answer that breaks off is broken off.
 */
export function forwardRequest(
  incoming: IncomingMessage,
  response: ServerResponse,
  upstream: Socket,
  { path, framing }: ProxyRequest,
  options: { readonly maxHeaderBytes: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = openRequest({
      createConnection: () => upstream,
      method: incoming.method,
      path,
      headers: [...keepEndToEnd(incoming), ...framing],
      setHost: false,
      maxHeaderSize: options.maxHeaderBytes,
      insecureHTTPParser: false,
    });
    // The size is limited; a limit of their number would drop the rest in silence.
    outgoing.maxHeadersCount = 0;
    response.once('close', () => {
      outgoing.destroy();
      upstream.destroy();
      resolve();
    });
    outgoing.on('error', reject);
    outgoing.once('upgrade', () => reject(new Error('the host changed the protocol')));
    outgoing.once('response', (answer) => {
      try {
        response.sendDate = false;
        response.writeHead(answer.statusCode ?? 502, answer.statusMessage, keepEndToEnd(answer));
      } catch (error) {
        reject(error instanceof Error ? error : new Error('the answer cannot be passed on'));
        return;
      }
      // Broken off: the connection of the client is closed, so that it does not take a part for the whole.
      pipeline(answer, response, (error) => error && response.destroy());
    });
    pipeline(incoming, outgoing, (error) => error && outgoing.destroy(error));
  });
}
