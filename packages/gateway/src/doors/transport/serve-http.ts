import { wholeText } from '@sallyport/contract';
import type { Incoming } from './door-context.ts';
import type { Exchange } from './exchange.ts';
import type { HttpRoute } from './http-route.ts';
import { openExchange } from './exchange.ts';
import { presentError, RpcError } from './rpc-error.ts';
import { sendConnectError } from './send-http.ts';
import { serveConnect } from './serve-connect.ts';
import type { ConnectFormat } from './serve-connect.ts';
import { serveConnectStream } from './serve-connect-stream.ts';
import type { ConnectStreamFormat } from './serve-connect-stream.ts';
import { sendGrpcWebError, serveGrpcWeb } from './serve-grpc-web.ts';
import type { GrpcWebFormat } from './serve-grpc-web.ts';

type Format =
  | { readonly protocol: 'connect'; readonly type: ConnectFormat }
  | { readonly protocol: 'connect-stream'; readonly type: ConnectStreamFormat }
  | { readonly protocol: 'grpc-web'; readonly type: GrpcWebFormat };

const formats: ReadonlyMap<string, Format> = new Map([
  ['application/json', { protocol: 'connect', type: 'application/json' }],
  ['application/proto', { protocol: 'connect', type: 'application/proto' }],
  ['application/connect+json', { protocol: 'connect-stream', type: 'application/connect+json' }],
  ['application/connect+proto', { protocol: 'connect-stream', type: 'application/connect+proto' }],
  ['application/grpc-web', { protocol: 'grpc-web', type: 'application/grpc-web+proto' }],
  ['application/grpc-web+proto', { protocol: 'grpc-web', type: 'application/grpc-web+proto' }],
  ['application/grpc-web-text', { protocol: 'grpc-web', type: 'application/grpc-web-text+proto' }],
  ['application/grpc-web-text+proto', { protocol: 'grpc-web', type: 'application/grpc-web-text+proto' }],
]);
const acceptedTypes = [...formats.keys()].join(', ');

/** Serves one HTTP request that is not plain gRPC: an RPC method by its content type, or a route. Never rejects. */
export async function serveHttp(incoming: Incoming): Promise<void> {
  try {
    await dispatch(incoming);
  } catch (error) {
    // Whatever could be told to the caller was told; this is a bug, and only this exchange pays for it.
    incoming.context.log({ message: 'Serving a request failed.', path: pathOf(incoming), error });
    incoming.response.destroy();
  }
}

function dispatch(incoming: Incoming): Promise<void> | void {
  const { request, context } = incoming;
  const { headers, rawHeaders } = request;
  const repeated = findRepeatedHeader(rawHeaders);
  if (repeated !== undefined) {
    return sendConnectError(incoming, new RpcError('invalid_argument', `The header ${repeated} is given twice.`));
  }
  const refusal = context.origin.refusalOf(headers);
  if (refusal !== undefined) return sendConnectError(incoming, new RpcError('permission_denied', refusal));

  const method = context.methods.get(request.url ?? '');
  const format = formatOf(headers['content-type']);
  if (method === undefined) {
    if (format?.protocol === 'grpc-web') return sendGrpcWebError(incoming, unknownPath(incoming), format.type);
    return dispatchRoute(incoming);
  }
  if (request.method !== 'POST') return refuseMethod(incoming, ['POST']);
  if (format === undefined) {
    const error = new RpcError('invalid_argument', `The content type must be one of ${acceptedTypes}.`);
    return sendConnectError(incoming, error, 415, { 'accept-post': acceptedTypes });
  }
  if (format.protocol === 'connect') return serveConnect(incoming, method, format.type);
  if (format.protocol === 'connect-stream') return serveConnectStream(incoming, method, format.type);
  return serveGrpcWeb(incoming, method, format.type);
}

function dispatchRoute(incoming: Incoming): Promise<void> | void {
  const { request, context } = incoming;
  const methods = context.routes.get(pathOf(incoming));
  if (methods === undefined) return sendConnectError(incoming, unknownPath(incoming), 404);
  const route = methods.get(request.method ?? '');
  if (route === undefined) return refuseMethod(incoming, [...methods.keys()]);
  return serveRoute(incoming, route);
}

async function serveRoute(incoming: Incoming, route: HttpRoute): Promise<void> {
  const { request, response, context } = incoming;
  let exchange: Exchange | undefined;
  try {
    exchange = openExchange(incoming, undefined);
    await route.handle(request, response, exchange);
  } catch (error) {
    if (response.headersSent) throw error;
    sendConnectError(incoming, presentError(error, route.path, context));
  } finally {
    exchange?.end();
  }
}

function refuseMethod(incoming: Incoming, allowed: readonly string[]): void {
  const allow = allowed.join(', ');
  sendConnectError(incoming, new RpcError('unimplemented', `The HTTP method must be ${allow}.`), 405, { allow });
}

function unknownPath(incoming: Incoming): RpcError {
  const path = pathOf(incoming);
  // Escapes on top of those that the caller chose make a secret unrecognisable.
  const shown = path.includes('%') ? 'this path' : wholeText(path);
  return presentError(new RpcError('unimplemented', `There is nothing at ${shown}.`), path, incoming.context);
}

function pathOf({ request }: Incoming): string {
  const url = request.url ?? '';
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

function formatOf(contentType: string | undefined): Format | undefined {
  if (contentType === undefined) return undefined;
  const known = formats.get(contentType);
  if (known !== undefined) return known;
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  // JSON is UTF-8 and nothing else; any other parameter changes nothing.
  const charsets = parameters
    .map((parameter) => parameter.trim())
    .filter((parameter) => parameter.startsWith('charset'));
  if (charsets.some((charset) => !/^charset="?utf-8"?$/.test(charset))) return undefined;
  return formats.get(type.trim());
}

/** Headers of which a request has one at most. Two programs on its way could each believe another one. */
const singular = new Set([
  ...[':authority', 'host', 'origin', 'authorization', 'content-type', 'content-length', 'content-encoding'],
  ...['transfer-encoding', 'traceparent', 'grpc-timeout', 'connect-timeout-ms', 'mcp-session-id'],
]);

/** The name of a header that is given twice although it decides something, or undefined. */
export function findRepeatedHeader(rawHeaders: readonly string[]): string | undefined {
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? '';
    if (!singular.has(name)) continue;
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return undefined;
}
