import type { Incoming } from './door-context.ts';
import type { Exchange } from './exchange.ts';

/** Opens the exchange of an HTTP request, so that it is aborted when the caller leaves. Throws RpcError. */
export function openExchange({ connection, request, response }: Incoming, timeoutMs: number | undefined): Exchange {
  const exchange = connection.open(request.headers, timeoutMs);
  // In HTTP/1.1 a caller leaves by closing the connection, which aborts all that is open on it.
  if (request.httpVersionMajor === 2) {
    response.on('close', () => exchange.abort('canceled', 'The caller cancelled the call.'));
  }
  return exchange;
}
