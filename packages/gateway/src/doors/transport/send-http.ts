import type { OutgoingHttpHeaders } from 'node:http';
import { httpStatusOf } from '@sallyport/contract';
import type { Incoming } from './door-context.ts';
import type { HttpRequest } from './http-route.ts';
import { lingerMs } from './limit-arrival.ts';
import type { RpcError } from './rpc-error.ts';

/** How much of an unwanted body is read and thrown away to keep the connection; a larger one ends it. */
const maxDiscardedBytes = 64 * 1024;

/** The whole answer in one write. */
export function sendAnswer(incoming: Incoming, contentType: string, body: string | Uint8Array): void {
  const { connection, request, response } = incoming;
  const headers = describeBody(contentType, body);
  // Tells the client that whatever it sent after this request was not looked at.
  if (connection.stopping && request.httpVersionMajor === 1) headers.connection = 'close';
  response.writeHead(200, headers);
  response.end(body);
}

/** An error in Connect's JSON form. The status is the code's own, unless HTTP has a more exact one. */
export function sendConnectError(
  incoming: Incoming,
  error: RpcError,
  status = httpStatusOf(error.code),
  headers?: OutgoingHttpHeaders,
): void {
  sendError(incoming, status, 'application/json', JSON.stringify(describeError(error)), headers);
}

/** An error as Connect writes it in JSON. */
export function describeError({ code, message, details }: RpcError): object {
  const shown = details.map(({ type, bytes }) => ({ type, value: Buffer.from(bytes).toString('base64') }));
  return { code, message, ...(shown.length === 0 ? {} : { details: shown }) };
}

/**
 * An error may be said before the request is complete. A sender that is still busy with a large body would see a reset
 * connection instead of the answer, so the answer goes out at once and the connection ends a little later.
 */
export function sendError(
  { request, response }: Incoming,
  status: number,
  contentType: string,
  body: string | Uint8Array,
  headers?: OutgoingHttpHeaders,
): void {
  const described = { ...describeBody(contentType, body), ...headers };
  if (request.complete || request.httpVersionMajor === 2 || claimsLittle(request)) {
    response.writeHead(status, described);
    response.end(body);
    return;
  }
  response.writeHead(status, { ...described, connection: 'close' });
  response.write(body);
  const cut = setTimeout(() => response.end(), lingerMs);
  request.once('close', () => {
    clearTimeout(cut);
    response.end();
  });
  request.resume();
}

function claimsLittle({ headers }: HttpRequest): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= maxDiscardedBytes;
}

function describeBody(contentType: string, body: string | Uint8Array): OutgoingHttpHeaders {
  return {
    'content-type': contentType,
    'content-length': typeof body === 'string' ? Buffer.byteLength(body) : body.length,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  };
}
