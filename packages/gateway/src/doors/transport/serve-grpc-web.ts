import { base64Decode } from '@bufbuild/protobuf/wire';
import type { Incoming } from './door-context.ts';
import type { Exchange } from './exchange.ts';
import { bringsToken, findToken } from './find-token.ts';
import { describeGrpcError, okTrailers } from './wire/grpc-status.ts';
import type { GrpcTrailers } from './wire/grpc-status.ts';
import { checkFrameStart, frameMessage, framePrefixBytes, trailersFlag, unframeMessage } from './wire/message-frame.ts';
import { answerInBinary } from './wire/message-codec.ts';
import type { Method } from './method-table.ts';
import { openExchange } from './exchange.ts';
import { parseGrpcTimeout } from './wire/parse-timeout.ts';
import { presentError, RpcError } from './rpc-error.ts';
import { sendAnswer, sendError } from './send-http.ts';

export type GrpcWebFormat = 'application/grpc-web+proto' | 'application/grpc-web-text+proto';

/** One unary call of gRPC-Web: frames in the body, and the status as a last frame because browsers see no trailers. */
export async function serveGrpcWeb(incoming: Incoming, method: Method, format: GrpcWebFormat): Promise<void> {
  const { request, context } = incoming;
  let exchange: Exchange | undefined;
  try {
    const timeout = request.headers['grpc-timeout'];
    exchange = openExchange(incoming, parseGrpcTimeout(typeof timeout === 'string' ? timeout : undefined));
    const message = await exchange.settle(answer(incoming, method, format, exchange));
    const frames = Buffer.concat([frameMessage(message), frameTrailers(okTrailers)]);
    sendAnswer(incoming, format, asText(format) ? frames.toString('base64') : frames);
  } catch (error) {
    sendGrpcWebError(incoming, presentError(error, method.path, context), format);
  } finally {
    exchange?.end();
  }
}

export function sendGrpcWebError(incoming: Incoming, error: RpcError, format: GrpcWebFormat): void {
  const frame = frameTrailers(describeGrpcError(error));
  sendError(incoming, 200, format, asText(format) ? frame.toString('base64') : frame);
}

async function answer(
  { request, context }: Incoming,
  method: Method,
  format: GrpcWebFormat,
  exchange: Exchange,
): Promise<Uint8Array> {
  const { maxMessageBytes } = context.limits;
  if (method.kind !== 'unary') throw new RpcError('unimplemented', 'Streaming methods are served over gRPC only.');
  const maxFrameBytes = framePrefixBytes + maxMessageBytes;
  const maxBytes = asText(format) ? Math.ceil(maxFrameBytes / 3) * 4 : maxFrameBytes;
  // Four characters of base64 hold three bytes.
  const decodeStart = (start: Buffer): Buffer =>
    asText(format) ? Buffer.from(start.toString('latin1', 0, start.length - (start.length % 4)), 'base64') : start;
  const body = await exchange.readBody(request, {
    maxBytes,
    contentLength: request.headers['content-length'],
    inspect: (start) => {
      const frameBytes = checkFrameStart(decodeStart(start), maxMessageBytes);
      return asText(format) ? undefined : frameBytes;
    },
    ...(bringsToken(method.input) && {
      findToken: (start) => findToken(method.input, decodeStart(start).subarray(framePrefixBytes), 'binary'),
    }),
  });
  const message = unframeMessage(asText(format) ? decodeText(body) : body, maxMessageBytes);
  return answerInBinary(method, message, exchange);
}

function decodeText(body: Buffer): Buffer {
  try {
    const bytes = base64Decode(body.toString('latin1'));
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  } catch {
    throw new RpcError('invalid_argument', 'The request is not base64.');
  }
}

function frameTrailers(trailers: GrpcTrailers): Buffer {
  const lines = Object.entries(trailers).map(([name, value]) => `${name}: ${value}\r\n`);
  return frameMessage(Buffer.from(lines.join('')), trailersFlag);
}

function asText(format: GrpcWebFormat): boolean {
  return format === 'application/grpc-web-text+proto';
}
