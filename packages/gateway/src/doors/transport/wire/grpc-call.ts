import type { IncomingHttpHeaders } from 'node:http2';
import type { Connection } from '../connection.ts';
import type { DoorContext } from '../door-context.ts';
import { encodeFields } from '../http2/answer-block.ts';
import type { Http2Stream } from '../http2/stream.ts';
import { okTrailers } from './grpc-status.ts';
import type { GrpcTrailers } from './grpc-status.ts';
import { limitArrival, lingerMs } from '../limit-arrival.ts';

/** A call that is one stream of an HTTP/2 connection. */
export interface GrpcCall {
  readonly context: DoorContext;
  readonly connection: Connection;
  readonly stream: Http2Stream;
  readonly headers: IncomingHttpHeaders;
}

const answerFields = { ':status': 200, 'content-type': 'application/grpc+proto' };
const answerHead = encodeFields(answerFields);
const okEnd = encodeFields({ ...okTrailers });

/** Says that messages follow. */
export function beginAnswer(stream: Http2Stream): void {
  stream.respond(answerHead);
}

/** Ends the answer, with a last message if there is one. Does nothing when the caller has gone. */
export function endAnswer(stream: Http2Stream, trailers: GrpcTrailers, lastFrame?: Buffer): void {
  if (isOver(stream)) return;
  if (!stream.headersSent) stream.respond(encodeFields({ ...answerFields, ...trailers }), true);
  else stream.end(lastFrame, trailers === okTrailers ? okEnd : encodeFields({ ...trailers }));
  if (!stream.complete) discardRequest(stream);
}

/** The caller may still be sending. A reset at once would overtake the answer, so it comes a little later. */
export function discardRequest(stream: Http2Stream): void {
  stream.resume();
  limitArrival(stream, lingerMs);
}

export function isOver(stream: Http2Stream): boolean {
  return stream.closed || stream.writableEnded;
}
