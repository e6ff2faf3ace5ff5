import { setImmediate } from 'node:timers/promises';
import { ToolFailure } from '../../call/tool.ts';

/** Ends a call that was cancelled or ran out of time, by throwing ToolFailure. */
export function checkSignal(signal: AbortSignal): void {
  if (!signal.aborted) return;
  if (signal.reason instanceof ToolFailure) throw signal.reason;
  const timedOut = signal.reason instanceof Error && signal.reason.name === 'TimeoutError';
  if (timedOut) throw new ToolFailure('TIMEOUT', 'The call took longer than its limit.');
  throw new ToolFailure('CANCELLED', 'The call was cancelled.');
}

const sliceMs = 5;

/** For long loops: await the returned function in each round, and other calls get their turn. Throws as above. */
export function takeBreaks(signal: AbortSignal): () => Promise<void> {
  let sinceMs = performance.now();
  return async () => {
    if (performance.now() - sinceMs < sliceMs) return;
    await setImmediate();
    sinceMs = performance.now();
    checkSignal(signal);
  };
}
