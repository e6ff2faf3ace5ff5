import type { RedactedEnding } from '../redact-ending.ts';

const longestName = 256;

/** The trace as the caller named it, where ours is written in another way. One that is too long was refused. */
export function callerTraceOf({ callerTraceId = '', traceId }: RedactedEnding['call']): string | undefined {
  const isTold = callerTraceId !== '' && callerTraceId !== traceId && callerTraceId.length <= longestName;
  return isTold ? callerTraceId : undefined;
}
