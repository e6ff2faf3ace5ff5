import { changeContext, ToolFailure } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';

/** Runs with a context whose signal also aborts when the time is up. */
export async function withDeadline<T>(
  timeoutMs: number,
  context: ToolContext,
  run: (timed: ToolContext) => Promise<T>,
  what: 'The program' | 'The statement' = 'The program',
): Promise<T> {
  const timeout = new AbortController();
  const timer = setTimeout(() => {
    timeout.abort(new ToolFailure('TIMEOUT', `${what} took longer than ${timeoutMs} ms and was ended.`));
  }, timeoutMs);
  try {
    return await run(changeContext(context, { signal: AbortSignal.any([context.signal, timeout.signal]) }));
  } finally {
    clearTimeout(timer);
  }
}
