import type { RequestMeta } from '@modelcontextprotocol/server';
import type { Received } from '../../call/call.ts';
import type { Violation } from '../../call/refusal.ts';
import type { Peer } from '../transport/peer.ts';

/** What clients may say about a call besides its arguments, in `_meta`. */
export const metaKeys = {
  approvalTaskId: 'sallyport/approval_task_id',
  confirmToken: 'sallyport/confirm_token',
  dedupeKey: 'sallyport/dedupe_key',
  requestId: 'sallyport/request_id',
  taskId: 'sallyport/task_id',
  correlationId: 'sallyport/correlation_id',
  timeoutMs: 'sallyport/timeout_ms',
  waitMs: 'sallyport/wait_ms',
} as const;

/** Where the facts about a call stand in the `_meta` of its result. */
export const callKey = 'sallyport/call';

type Said = Pick<
  Received,
  | 'approvalTaskId'
  | 'confirmToken'
  | 'dedupeKey'
  | 'requestId'
  | 'taskId'
  | 'correlationId'
  | 'timeoutMs'
  | 'waitMs'
  | 'traceparent'
  | 'tracestate'
  | 'violations'
>;

const longestTexts = { approvalTaskId: 64, confirmToken: 8192, traceparent: 256 };

/** Clients cut calls off near 60 s. */
export const longestWaitMs = 45_000;

/**
 * Reads what a client says about a call. What is no text or number where one belongs is a violation, so that the gate
 * refuses the call and records it. `requestId` is for a client that names none.
 */
export function readMeta(meta: RequestMeta | undefined, requestId: string): Said {
  const violations: Violation[] = [];
  const said = (meta ?? {}) as Readonly<Record<string, unknown>>;
  const violate = (field: string, rule: string, expected: string): undefined => {
    violations.push({ field: `_meta.${field}`, rule, message: `_meta.${field} must be ${expected}` });
    return undefined;
  };
  const readText = (field: string, longest = Infinity): string | undefined => {
    const value = said[field] ?? undefined;
    if (value === undefined || (typeof value === 'string' && value.length <= longest)) return value;
    return violate(field, 'form', longest === Infinity ? 'a string' : `a string of at most ${longest} characters`);
  };
  const readNumber = (field: string): number | undefined => {
    const value = said[field] ?? undefined;
    return value === undefined || typeof value === 'number' ? value : violate(field, 'form', 'a number');
  };

  const approvalTaskId = readText(metaKeys.approvalTaskId, longestTexts.approvalTaskId);
  const confirmToken = readText(metaKeys.confirmToken, longestTexts.confirmToken);
  const traceparent = readText('traceparent', longestTexts.traceparent);
  // What is no tracestate is passed over later, as in a header.
  const tracestate = typeof said['tracestate'] === 'string' ? said['tracestate'] : undefined;
  const waitMs = readNumber(metaKeys.waitMs) ?? longestWaitMs;
  return {
    requestId: readText(metaKeys.requestId) ?? requestId,
    approvalTaskId,
    confirmToken,
    traceparent,
    tracestate,
    dedupeKey: readText(metaKeys.dedupeKey) ?? '',
    taskId: readText(metaKeys.taskId) ?? '',
    correlationId: readText(metaKeys.correlationId) ?? '',
    timeoutMs: readNumber(metaKeys.timeoutMs) ?? 0,
    waitMs: Math.min(Math.max(0, waitMs), longestWaitMs),
    violations: violations.length === 0 ? undefined : violations,
  };
}

/** The trace of the message goes before that of the request that brings it: one request may stand for a whole session. */
export function traceOf(said: Said, peer: Pick<Peer, 'headers'>): Pick<Received, 'traceparent' | 'tracestate'> {
  const { traceparent, tracestate } = said;
  if (traceparent !== undefined) return { traceparent, tracestate };
  return { traceparent: peer.headers('traceparent'), tracestate: peer.headers('tracestate') };
}
