import { create } from '@bufbuild/protobuf';
import { ExecuteToolsResponseSchema } from '@sallyport/contract';
import type { ExecuteToolResponse, ExecuteToolsRequest, ExecuteToolsResponse } from '@sallyport/contract';
import { Cancellation } from '../../call/cancellation.ts';
import type { Submission } from '../../call/submission.ts';
import { answerInAnyOrder } from '../answer-in-any-order.ts';
import type { Peer } from '../transport/peer.ts';
import { RpcError } from '../transport/rpc-error.ts';
import { readCall } from './read-call.ts';

/** Calls of one stream that are read and not yet answered. */
const mostOpen = 256;

/** `Written`: how callers get an answer that is not a message. */
export interface CallRunner<Written = never> {
  /** Rejects with RpcError when the caller cannot be told apart. */
  readonly run: (call: Submission) => Promise<ExecuteToolResponse | Written>;
  /** An answer of the stream that is not a message. Absent: all of them are. */
  readonly number?: (number: number, answer: Written) => Written;
  /** What the caller may know of an error. */
  readonly present: (error: unknown) => RpcError;
}

/** Answers the calls of one stream, each when it is ready. A request without a call cancels the one of its number. */
export function answerCalls<Written extends string | Uint8Array = never>(
  requests: AsyncIterable<readonly ExecuteToolsRequest[]>,
  peer: Peer,
  { run, present, number: giveNumber }: CallRunner<Written>,
): AsyncIterable<readonly (ExecuteToolsResponse | Written)[]> {
  const open = new Map<number, Cancellation>();
  // One listener for all of them: a stream may live for days.
  peer.cancellation.addEventListener('abort', () => {
    for (const cancellation of open.values()) cancellation.abort(peer.cancellation.reason);
  });

  const answer = async (
    request: ExecuteToolsRequest,
    signal: Cancellation,
  ): Promise<ExecuteToolsResponse | Written> => {
    const { number, call } = request;
    try {
      if (call === undefined || open.has(number)) throw new RpcError('invalid_argument', taken(number));
      open.set(number, signal);
      if (peer.cancellation.aborted) signal.abort(peer.cancellation.reason);
      const { traceparent, tracestate } = request;
      const value = await run(readCall(call, peer, { signal, traceparent, tracestate }));
      if (!isMessage(value)) return giveNumber?.(number, value) ?? value;
      return create(ExecuteToolsResponseSchema, { number, result: { case: 'response', value } });
    } catch (error) {
      const { code, message } = present(error);
      return create(ExecuteToolsResponseSchema, { number, result: { case: 'error', value: { code, message } } });
    } finally {
      if (open.get(number) === signal) open.delete(number);
      peer.letGo(request);
    }
  };
  return answerInAnyOrder(requests, mostOpen, (request) => {
    if (request.call !== undefined) return answer(request, new Cancellation());
    open.get(request.number)?.abort(new RpcError('canceled', 'The caller cancelled the call.'));
    return undefined;
  });
}

function isMessage(value: ExecuteToolResponse | string | Uint8Array): value is ExecuteToolResponse {
  return typeof value !== 'string' && !(value instanceof Uint8Array);
}

function taken(number: number): string {
  return `The number ${number} belongs to a call of this stream that is not answered yet.`;
}
