import type { Socket } from 'node:net';
import { httpStatusOf } from '@sallyport/contract';
import type { Connection } from './connection.ts';
import type { Exchange } from './exchange.ts';
import type { HttpRoute } from './http-route.ts';
import { LaneReply } from './lane-reply.ts';
import { presentError } from './rpc-error.ts';
import { describeError } from './send-http.ts';
import type { PlainRequest } from './wire/plain-request.ts';

/** Serves a route on the lane for plain calls, as `serveHttp` does elsewhere. Never rejects. */
export async function serveWhole(
  { path, headers, body }: PlainRequest,
  handle: HttpRoute['handleWhole'],
  connection: Connection,
  socket: Socket,
): Promise<void> {
  const reply = new LaneReply(socket, connection);
  const { context } = connection;
  let exchange: Exchange | undefined;
  try {
    exchange = connection.open(headers, undefined);
    await handle?.({ method: 'POST', headers, body }, reply, exchange);
    // What comes next on the connection would be taken for the rest of this answer.
    if (!reply.writableEnded) socket.destroy();
  } catch (error) {
    if (reply.hasBegun) {
      context.log({ message: 'Serving a request failed.', path, error });
      socket.destroy();
      return;
    }
    const told = presentError(error, path, context);
    const text = JSON.stringify(describeError(told));
    reply.writeHead(httpStatusOf(told.code), {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    reply.end(text);
  } finally {
    exchange?.end();
  }
}
