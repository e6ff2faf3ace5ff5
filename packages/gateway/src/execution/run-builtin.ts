import type { Json } from '@sallyport/contract';
import type { Execution } from '../call/call.ts';
import { ToolFailure } from '../call/tool.ts';
import type { ObservedContext } from './tool-context.ts';

const defaultGraceMs = 5000;

/** A signal that aborts when the caller goes away, the gate stops the call or the time is up, and says which. */
export function openDeadline(caller: AbortSignal, timeoutMs: number): { signal: AbortSignal; close: () => void } {
  const controller = new AbortController();
  const cancel = (): void => {
    const said: unknown = caller.reason;
    controller.abort(
      said instanceof ToolFailure ? said : new ToolFailure('CANCELLED', 'The caller cancelled the call.'),
    );
  };
  const timer = setTimeout(() => {
    controller.abort(new ToolFailure('TIMEOUT', `The call took longer than ${timeoutMs} ms.`));
  }, timeoutMs);
  if (caller.aborted) cancel();
  else caller.addEventListener('abort', cancel, { once: true });
  return {
    signal: controller.signal,
    close: () => {
      clearTimeout(timer);
      caller.removeEventListener('abort', cancel);
    },
  };
}

/**
 * Runs a tool inside the daemon. A tool that was told to stop is waited for, because its effect belongs to this call;
 * only one that ignores the signal for seconds is left behind, and the outcome says so. Rethrows ToolRefused.
 */
export async function runBuiltin(
  run: () => Promise<Json>,
  signal: AbortSignal,
  observed: ObservedContext,
  { graceMs = defaultGraceMs }: { readonly graceMs?: number } = {},
): Promise<Execution> {
  const finish = (result: Execution['result']): Execution => ({
    result,
    usage: observed.usage(),
    beforeImages: observed.beforeImages,
    ...(observed.warnings.length === 0 ? {} : { warnings: observed.warnings }),
    ...(observed.network.isEmpty ? {} : { network: observed.network }),
    // A tool that was told to stop may have been anywhere in its work.
    hasBegun: observed.hasBegun() || (hasRun && signal.aborted),
  });
  let hasRun = false;
  if (signal.aborted) return finish({ ok: false, failure: reasonOf(signal) });
  const { promise: overrun, reject } = Promise.withResolvers<never>();
  let patience: NodeJS.Timeout | undefined;
  const giveUp = (): void => {
    const { code, message } = reasonOf(signal);
    patience = setTimeout(
      () => reject(new ToolFailure(code, `${message} It did not stop; its effect may still happen.`)),
      graceMs,
    );
  };
  signal.addEventListener('abort', giveUp, { once: true });
  hasRun = true;
  try {
    return finish({ ok: true, output: await Promise.race([run(), overrun]) });
  } catch (error) {
    if (error instanceof ToolFailure) return finish({ ok: false, failure: error });
    // What a tool throws once it was told to stop is its way of stopping.
    if (signal.aborted && error instanceof Error && error.name === 'AbortError')
      return finish({ ok: false, failure: reasonOf(signal) });
    throw error;
  } finally {
    signal.removeEventListener('abort', giveUp);
    clearTimeout(patience);
  }
}

function reasonOf(signal: AbortSignal): ToolFailure {
  return signal.reason instanceof ToolFailure ? signal.reason : new ToolFailure('CANCELLED', 'The call was cancelled.');
}
