import type { ExecuteToolRequest, Json } from '@sallyport/contract';
import type { Submission } from '../../call/submission.ts';
import { bearerOf } from '../transport/exchange.ts';
import type { Peer } from '../transport/peer.ts';

/** What a call is made of at every door, whatever its form. */
export type CallRequest = Pick<
  ExecuteToolRequest,
  'name' | 'inputJson' | 'timeoutMs' | 'requestId' | 'dedupeKey' | 'confirmBinding'
> &
  Partial<Pick<ExecuteToolRequest, 'approvalTaskId' | 'confirmToken' | 'waitMs'>> & {
    /** The value of `inputJson`, for a door that has read it strictly. Absent: the gate reads it. */
    readonly parsedInput?: Json;
    readonly context?: { readonly taskId: string; readonly correlationId: string } | undefined;
  };

/** What a message says of its own call, where one request carries many. */
export interface OwnOfCall {
  readonly signal: Submission['signal'];
  /** Empty: it belongs to the trace of the request. */
  readonly traceparent: string;
  readonly tracestate: string;
}

export function readCall(request: CallRequest, peer: Peer, own?: OwnOfCall): Submission {
  const isTraced = own !== undefined && own.traceparent !== '';
  return {
    door: peer.door,
    source: peer.source,
    credential: bearerOf(peer.headers('authorization')),
    requestId: request.requestId,
    toolName: request.name,
    input: request.inputJson,
    parsedInput: request.parsedInput,
    timeoutMs: request.timeoutMs,
    dedupeKey: request.dedupeKey,
    taskId: request.context?.taskId ?? '',
    correlationId: request.context?.correlationId ?? '',
    traceparent: isTraced ? own.traceparent : peer.headers('traceparent'),
    tracestate: isTraced ? own.tracestate : peer.headers('tracestate'),
    confirmBinding: request.confirmBinding,
    approvalTaskId: request.approvalTaskId || undefined,
    confirmToken: request.confirmToken || undefined,
    waitMs: request.waitMs || undefined,
    signal: own?.signal ?? peer.cancellation,
  };
}

export function credentialOf(peer: Pick<Peer, 'headers'>): { readonly credential?: string } {
  const credential = bearerOf(peer.headers('authorization'));
  return credential === undefined ? {} : { credential };
}
