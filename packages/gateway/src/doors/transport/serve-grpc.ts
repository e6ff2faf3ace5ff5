import { wholeText } from '@sallyport/contract';
import type { Exchange } from './exchange.ts';
import { findToken } from './find-token.ts';
import { beginAnswer, endAnswer } from './wire/grpc-call.ts';
import type { GrpcCall } from './wire/grpc-call.ts';
import { describeGrpcError, okTrailers } from './wire/grpc-status.ts';
import { checkFrameStart, frameMessage, framePrefixBytes, unframeMessage } from './wire/message-frame.ts';
import { answerInBinary, decodeBinary, inBinary } from './wire/message-codec.ts';
import type { Method } from './method-table.ts';
import { eachAlone } from './wire/one-by-one.ts';
import { parseGrpcTimeout } from './wire/parse-timeout.ts';
import { presentError, RpcError } from './rpc-error.ts';
import { receiveMessages, sendMessages } from './wire/stream-messages.ts';

/** Serves one gRPC call whose origin has been checked. Never rejects. */
export async function serveGrpc(call: GrpcCall): Promise<void> {
  const { context, connection, stream, headers } = call;
  const path = headers[':path'] ?? '';
  let exchange: Exchange | undefined;
  try {
    const method = context.methods.get(path);
    if (method === undefined) throw new RpcError('unimplemented', `There is no method ${wholeText(path)}.`);
    const timeout = headers['grpc-timeout'];
    const opened = connection.open(headers, parseGrpcTimeout(typeof timeout === 'string' ? timeout : undefined));
    exchange = opened;
    stream.on('close', () => opened.abort('canceled', 'The caller cancelled the call.'));
    await opened.settle(serveMethod(call, method, opened));
  } catch (error) {
    endAnswer(stream, describeGrpcError(presentError(error, path, context)));
  } finally {
    exchange?.end();
  }
}

async function serveMethod(call: GrpcCall, method: Method, exchange: Exchange): Promise<void> {
  const { stream } = call;
  switch (method.kind) {
    case 'unary': {
      const answer = await answerInBinary(method, await readRequest(call, method, exchange), exchange);
      beginAnswer(stream);
      endAnswer(stream, okTrailers, frameMessage(answer));
      return;
    }
    case 'server_streaming': {
      const request = decodeBinary(method, await readRequest(call, method, exchange));
      exchange.onStop = () => exchange.abort('unavailable', 'Sallyport is stopping.');
      beginAnswer(stream);
      await sendMessages(call, method, eachAlone(method.run(request, exchange)), inBinary);
      endAnswer(stream, okTrailers);
      return;
    }
    case 'bidi_streaming': {
      const requests = receiveMessages(call, method, exchange, inBinary);
      exchange.onStop = () => requests.end();
      beginAnswer(stream);
      await sendMessages(call, method, inBinary.handlerOf(method)(requests, exchange), inBinary);
      endAnswer(stream, okTrailers);
      return;
    }
  }
}

/** The one message of a method that takes no stream, not decoded. */
async function readRequest({ stream, context }: GrpcCall, method: Method, exchange: Exchange): Promise<Buffer> {
  const { maxMessageBytes, requestTimeoutMs: timeoutMs } = context.limits;
  const body = await exchange.readBody(stream, {
    timeoutMs,
    maxBytes: framePrefixBytes + maxMessageBytes,
    inspect: (start) => checkFrameStart(start, maxMessageBytes),
    findToken: (start) => findToken(method.input, start.subarray(framePrefixBytes), 'binary'),
  });
  return unframeMessage(body, maxMessageBytes);
}
