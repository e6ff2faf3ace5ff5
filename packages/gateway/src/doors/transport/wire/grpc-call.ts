import type { IncomingHttpHeaders, ServerHttp2Stream, ServerStreamResponseOptions } from 'node:http2';
import type { Connection } from '../connection.ts';
import type { DoorContext } from '../door-context.ts';
import type { GrpcTrailers } from './grpc-status.ts';
import { limitArrival, lingerMs } from '../limit-arrival.ts';

/** A call that is one stream of an HTTP/2 connection. */
export interface GrpcCall {
  readonly context: DoorContext;
  readonly connection: Connection;
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
}

const answerHeaders = { ':status': 200, 'content-type': 'application/grpc+proto' };
const withTrailers: ServerStreamResponseOptions = { waitForTrailers: true };

/** Says that messages follow. */
export function beginAnswer(stream: ServerHttp2Stream): void {
  if (!isOver(stream)) stream.respond(answerHeaders, withTrailers);
}

/** Ends the answer, with a last message if there is one. Does nothing when the caller has gone. */
export function endAnswer(stream: ServerHttp2Stream, trailers: GrpcTrailers, lastFrame?: Buffer): void {
  if (isOver(stream)) return;
  if (!stream.headersSent) {
    stream.respond({ ...answerHeaders, ...trailers }, { endStream: true });
  } else {
    stream.once('wantTrailers', () => stream.sendTrailers({ ...trailers }));
    stream.end(lastFrame);
  }
  if (!stream.readableEnded) discardRequest(stream);
}

/** The caller may still be sending. A reset at once would overtake the answer, so it comes a little later. */
export function discardRequest(stream: ServerHttp2Stream): void {
  stream.resume();
  limitArrival(stream, lingerMs);
}

export function isOver(stream: ServerHttp2Stream): boolean {
  return stream.destroyed || stream.closed || stream.writableEnded;
}
