import type { Message } from '@bufbuild/protobuf';
import type { Incoming } from './door-context.ts';
import type { Exchange } from './exchange.ts';
import type { HttpReply } from './http-route.ts';
import { checkFrameStart, frameMessage, framePrefixBytes, unframeMessage } from './wire/message-frame.ts';
import { decodeBinary, decodeJson, encodeBinary, encodeJson } from './wire/message-codec.ts';
import type { Method, ServerStreamMethod } from './method-table.ts';
import { openExchange } from './exchange.ts';
import { parseConnectTimeout } from './wire/parse-timeout.ts';
import { presentError, RpcError } from './rpc-error.ts';
import { describeError } from './send-http.ts';

export type ConnectStreamFormat = 'application/connect+json' | 'application/connect+proto';

export const endFlag = 0x02;

/**
 * One server-streaming call of the Connect protocol, for callers that speak HTTP/1.1, such as browsers: framed messages
 * in both directions, and a last frame with the error, if there is one. The HTTP status is always 200.
 */
export async function serveConnectStream(
  incoming: Incoming,
  method: Method,
  format: ConnectStreamFormat,
): Promise<void> {
  const { request, response, context } = incoming;
  let exchange: Exchange | undefined;
  response.writeHead(200, {
    'content-type': format,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  // Sent at once, so that the client knows the stream is open before there is any news.
  response.flushHeaders();
  try {
    if (method.kind !== 'server_streaming') throw wrongKind(method);
    const timeout = request.headers['connect-timeout-ms'];
    const opened = openExchange(incoming, parseConnectTimeout(typeof timeout === 'string' ? timeout : undefined));
    exchange = opened;
    opened.onStop = () => opened.abort('unavailable', 'Sallyport is stopping.');
    await opened.settle(sendMessages(incoming, method, format, opened));
    response.end(frameMessage(Buffer.from('{}'), endFlag));
  } catch (error) {
    const told = describeError(presentError(error, method.path, context));
    response.end(frameMessage(Buffer.from(JSON.stringify({ error: told })), endFlag));
  } finally {
    exchange?.end();
  }
}

async function sendMessages(
  incoming: Incoming,
  method: ServerStreamMethod,
  format: ConnectStreamFormat,
  exchange: Exchange,
): Promise<void> {
  const { response } = incoming;
  const isJson = format === 'application/connect+json';
  for await (const message of method.run(await readRequest(incoming, method, isJson, exchange), exchange)) {
    if (response.destroyed) return;
    const bytes = isJson ? Buffer.from(encodeJson(method, message)) : encodeBinary(method, message);
    if (!response.write(frameMessage(bytes))) await waitForRoom(response);
  }
}

async function readRequest(
  { request, context }: Incoming,
  method: Method,
  isJson: boolean,
  exchange: Exchange,
): Promise<Message> {
  const { maxMessageBytes } = context.limits;
  const body = await exchange.readBody(request, {
    maxBytes: framePrefixBytes + maxMessageBytes,
    contentLength: request.headers['content-length'],
    inspect: (start) => checkFrameStart(start, maxMessageBytes),
  });
  const message = unframeMessage(body, maxMessageBytes);
  return isJson ? decodeJson(method, message) : decodeBinary(method, message);
}

function waitForRoom(response: Pick<HttpReply, 'on' | 'off'>): Promise<void> {
  return new Promise((resolve) => {
    const proceed = (): void => {
      response.off('drain', proceed);
      response.off('close', proceed);
      resolve();
    };
    response.on('drain', proceed);
    response.on('close', proceed);
  });
}

function wrongKind({ kind }: Method): RpcError {
  return kind === 'unary'
    ? new RpcError('unimplemented', 'This method is unary: send application/json or application/proto.')
    : new RpcError('unimplemented', 'Methods that stream in both directions need HTTP/2.');
}
