import type { Socket } from 'node:net';
import { httpStatusOf } from '@sallyport/contract';
import type { Connection } from './connection.ts';
import type { DoorContext } from './door-context.ts';
import type { Exchange } from './exchange.ts';
import { serveWhole } from './serve-whole.ts';
import type { UnaryMethod } from './method-table.ts';
import { presentError } from './rpc-error.ts';
import { describeError } from './send-http.ts';
import { dateNow, reasonOf, describeKeeping } from './wire/answer-head.ts';
import { answerInJson } from './wire/message-codec.ts';
import { readPlainRequest } from './wire/plain-request.ts';
import type { PlainHead, PlainRequest } from './wire/plain-request.ts';

/** So much of a next request is kept while one is answered; more of it waits in the socket. */
const mostAhead = 64 * 1024;

/**
 * Serves unary calls in JSON without an HTTP parser, as long as each request of the connection has the one plain shape.
 * The first that has not, `speakHttp` gets unread, with everything after it, and the lane is out of the way for good.
 * Closing, idling and hanging up are as with HTTP: see docs/decisions/0014-a-lane-for-plain-calls.md.
 */
export function openPlainLane(
  socket: Socket,
  connection: Connection,
  context: DoorContext,
  speakHttp: () => void,
): void {
  let head: PlainHead | undefined;
  let ahead: Buffer | undefined;
  let isBusy = false;

  const receive = (chunk: Buffer): void => {
    if (!isBusy) return take(ahead === undefined ? chunk : Buffer.concat([ahead, chunk]));
    ahead = ahead === undefined ? chunk : Buffer.concat([ahead, chunk]);
    if (ahead.length > mostAhead) socket.pause();
  };
  const take = (chunk: Buffer): void => {
    ahead = undefined;
    const request = readPlainRequest(chunk, head);
    if (request === undefined || context.origin.refusalOf(request.headers) !== undefined) return leave(chunk);
    const method = context.methods.get(request.path);
    const route = method === undefined ? context.routes.get(request.path)?.get('POST') : undefined;
    if (method?.kind !== 'unary' && route?.handleWhole === undefined) return leave(chunk);
    head = request.head;
    isBusy = true;
    const served =
      method?.kind === 'unary'
        ? serve(request, method, connection, context, send)
        : serveWhole(request, route?.handleWhole, connection, socket);
    void served.then(goOn);
  };
  const send = ({ text, encoding }: Written): void => {
    if (!socket.destroyed) socket.write(text, encoding);
  };
  const goOn = (): void => {
    if (socket.destroyed) return;
    // Nobody gets a further answer who does not take this one.
    if (socket.writableNeedDrain) return void socket.once('drain', goOn);
    isBusy = false;
    if (socket.isPaused()) socket.resume();
    if (ahead !== undefined) take(ahead);
  };
  const leave = (chunk: Buffer): void => {
    socket.setTimeout(0);
    for (const [event, listener] of listeners) socket.off(event, listener);
    // Nothing comes in between: the next listener gets these bytes first.
    socket.unshift(chunk);
    speakHttp();
    socket.resume();
  };
  const end = (): void => {
    connection.abort('canceled', 'The caller went away.');
    socket.end();
  };
  const idle = (): void => {
    if (connection.idle) socket.destroy();
    else socket.setTimeout(context.limits.idleTimeoutMs);
  };
  const listeners = [
    ['data', receive],
    ['end', end],
    ['timeout', idle],
  ] as const;
  for (const [event, listener] of listeners) socket.on(event, listener);
  socket.setTimeout(context.limits.idleTimeoutMs);
}

/** Never rejects. The answer is on its way before the exchange ends: with the last one, a door that closes hangs up. */
async function serve(
  { path, headers, body }: PlainRequest,
  method: UnaryMethod,
  connection: Connection,
  context: DoorContext,
  send: (answer: Written) => void,
): Promise<void> {
  let exchange: Exchange | undefined;
  try {
    exchange = connection.open(headers, undefined);
    send(write(200, await answerInJson(method, body, exchange), connection));
  } catch (error) {
    const told = presentError(error, path, context);
    send(write(httpStatusOf(told.code), JSON.stringify(describeError(told)), connection));
  } finally {
    exchange?.end();
  }
}

interface Written {
  readonly text: string;
  /** What is ASCII throughout is copied as it is. */
  readonly encoding: 'latin1' | 'utf8';
}

function write(status: number, body: string, connection: Connection): Written {
  const bytes = Buffer.byteLength(body);
  const text = `HTTP/1.1 ${status} ${reasonOf(status)}\r\ncontent-type: application/json\r\ncontent-length: ${bytes}\r\ncache-control: no-store\r\nx-content-type-options: nosniff\r\nDate: ${dateNow()}\r\n${describeKeeping(connection)}\r\n\r\n${body}`;
  return { text, encoding: bytes === body.length ? 'latin1' : 'utf8' };
}
