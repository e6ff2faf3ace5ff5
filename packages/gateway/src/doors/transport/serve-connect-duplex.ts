import type { IncomingHttpHeaders } from 'node:http2';
import type { Exchange } from './exchange.ts';
import { encodeFields } from './http2/answer-block.ts';
import type { BidiStreamMethod, MethodTable } from './method-table.ts';
import { presentError } from './rpc-error.ts';
import { describeError } from './send-http.ts';
import { endFlag } from './serve-connect-stream.ts';
import { discardRequest, isOver } from './wire/grpc-call.ts';
import type { GrpcCall } from './wire/grpc-call.ts';
import { inBinary, inJson } from './wire/message-codec.ts';
import type { MessageFormat } from './wire/message-codec.ts';
import { frameMessage } from './wire/message-frame.ts';
import { parseConnectTimeout } from './wire/parse-timeout.ts';
import { receiveMessages, sendMessages } from './wire/stream-messages.ts';

/** A method that streams in both directions, and the form of its messages. */
export interface Duplex {
  readonly method: BidiStreamMethod;
  readonly contentType: string;
  readonly format: MessageFormat;
}

/** Undefined: the request is something else. */
export function findDuplex(headers: IncomingHttpHeaders, methods: MethodTable): Duplex | undefined {
  const contentType = headers['content-type'] ?? '';
  const format = formats[contentType];
  if (format === undefined || headers[':method'] !== 'POST') return undefined;
  const method = methods.get(headers[':path'] ?? '');
  return method?.kind === 'bidi_streaming' ? { method, contentType, format } : undefined;
}

const formats: Readonly<Record<string, MessageFormat>> = {
  'application/connect+json': inJson,
  'application/connect+proto': inBinary,
};

/** Serves such a call of the Connect protocol, whose origin has been checked. Never rejects. */
export async function serveConnectDuplex(call: GrpcCall, { method, contentType, format }: Duplex): Promise<void> {
  const { context, connection, stream, headers } = call;
  const head = encodeFields({ ':status': 200, 'content-type': contentType });
  let exchange: Exchange | undefined;
  let end: object = {};
  try {
    const timeout = headers['connect-timeout-ms'];
    const opened = connection.open(headers, parseConnectTimeout(typeof timeout === 'string' ? timeout : undefined));
    exchange = opened;
    stream.on('close', () => opened.abort('canceled', 'The caller cancelled the call.'));
    const requests = receiveMessages(call, method, opened, format);
    opened.onStop = () => requests.end();
    // Sent at once, so that the client knows that it can begin.
    stream.respond(head);
    await opened.settle(sendMessages(call, method, format.handlerOf(method)(requests, opened), format));
  } catch (error) {
    end = { error: describeError(presentError(error, method.path, context)) };
  } finally {
    finish(call, head, end);
    exchange?.end();
  }
}

/** The last frame says how it ended. Does nothing when the caller has gone. */
function finish({ stream }: GrpcCall, head: Buffer, end: object): void {
  if (isOver(stream)) return;
  stream.respond(head);
  stream.end(frameMessage(Buffer.from(JSON.stringify(end)), endFlag));
  if (!stream.complete) discardRequest(stream);
}
