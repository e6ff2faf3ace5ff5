import type { Incoming } from './door-context.ts';
import type { Exchange } from './exchange.ts';
import { bringsToken, findToken } from './find-token.ts';
import { answerInBinary, answerInJson } from './wire/message-codec.ts';
import type { Method } from './method-table.ts';
import { openExchange } from './exchange.ts';
import { parseConnectTimeout } from './wire/parse-timeout.ts';
import { presentError, RpcError } from './rpc-error.ts';
import { sendAnswer, sendConnectError } from './send-http.ts';

export type ConnectFormat = 'application/json' | 'application/proto';

/** One unary call of the Connect protocol: the request body is the message, the answer is the message or an error. */
export async function serveConnect(incoming: Incoming, method: Method, format: ConnectFormat): Promise<void> {
  const { context } = incoming;
  let exchange: Exchange | undefined;
  try {
    exchange = openExchange(incoming, parseConnectTimeout(header(incoming, 'connect-timeout-ms')));
    const body = await exchange.settle(answer(incoming, method, format, exchange));
    sendAnswer(incoming, format, body);
  } catch (error) {
    sendConnectError(incoming, presentError(error, method.path, context));
  } finally {
    exchange?.end();
  }
}

async function answer(
  incoming: Incoming,
  method: Method,
  format: ConnectFormat,
  exchange: Exchange,
): Promise<string | Uint8Array> {
  const { request, context } = incoming;
  const { maxMessageBytes: maxBytes } = context.limits;
  if (method.kind !== 'unary') {
    const advice = 'This method streams: send application/connect+json, or use gRPC.';
    throw new RpcError('unimplemented', advice);
  }
  if ((header(incoming, 'content-encoding') ?? 'identity') !== 'identity') {
    throw new RpcError('unimplemented', 'Compressed messages are not accepted.');
  }
  if ((header(incoming, 'connect-protocol-version') ?? '1') !== '1') {
    throw new RpcError('invalid_argument', 'connect-protocol-version must be 1.');
  }
  const body = await exchange.readBody(request, {
    maxBytes,
    contentLength: request.headers['content-length'],
    ...(bringsToken(method.input) && {
      findToken: (start) => findToken(method.input, start, format === 'application/json' ? 'json' : 'binary'),
    }),
  });
  return (format === 'application/json' ? answerInJson : answerInBinary)(method, body, exchange);
}

function header({ request }: Incoming, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}
