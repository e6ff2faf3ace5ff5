import type { Json } from '@sallyport/contract';
import type { Execution } from '../call/call.ts';
import { ToolFailure } from '../call/tool.ts';
import type { ObservedContext } from './tool-context.ts';

const defaultGraceMs = 5000;

/** What a deadline needs to know about the call. */
interface Timed {
  readonly signal: AbortSignal;
  readonly isEnded: boolean;
}

/**
 * Ends a tool when the caller goes away, the gate stops the call or the time is up, and says which. It watches from the
 * moment that somebody asks for its signal: for a tool that is done at once, nobody does.
 */
export class Deadline {
  readonly #call: Timed;
  readonly #timeoutMs: number;
  #controller: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(call: Timed, timeoutMs: number) {
    this.#call = call;
    this.#timeoutMs = timeoutMs;
  }

  get isOver(): boolean {
    return this.#controller?.signal.aborted ?? this.#call.isEnded;
  }

  get signal(): AbortSignal {
    return (this.#controller ?? this.#watch()).signal;
  }

  close(): void {
    clearTimeout(this.#timer);
    if (this.#controller !== undefined) this.#call.signal.removeEventListener('abort', this.#cancel);
  }

  #watch(): AbortController {
    this.#controller = new AbortController();
    const { signal } = this.#call;
    if (signal.aborted) this.#cancel();
    else signal.addEventListener('abort', this.#cancel, { once: true });
    this.#timer = setTimeout(() => {
      this.#controller?.abort(new ToolFailure('TIMEOUT', `The call took longer than ${this.#timeoutMs} ms.`));
    }, this.#timeoutMs);
    return this.#controller;
  }

  readonly #cancel = (): void => {
    const said: unknown = this.#call.signal.reason;
    this.#controller?.abort(
      said instanceof ToolFailure ? said : new ToolFailure('CANCELLED', 'The caller cancelled the call.'),
    );
  };
}

/** A tool that is about to run. */
export interface Attempt {
  readonly run: () => Json | Promise<Json>;
  readonly deadline: Deadline;
  readonly observed: ObservedContext;
}

/**
 * Runs a tool inside the daemon. A tool that was told to stop is waited for, because its effect belongs to this call;
 * only one that ignores the signal for seconds is left behind, and the outcome says so. Rethrows ToolRefused.
 */
export function runBuiltin(
  { run, deadline, observed }: Attempt,
  { graceMs = defaultGraceMs }: { readonly graceMs?: number } = {},
): Execution | Promise<Execution> {
  if (deadline.isOver) return finish({ ok: false, failure: reasonOf(deadline.signal) }, observed, false);
  try {
    const output = run();
    if (output instanceof Promise) return awaitOutput(output, deadline.signal, observed, graceMs);
    return finish({ ok: true, output }, observed, deadline.isOver);
  } catch (error) {
    return fail(error, deadline, observed);
  }
}

async function awaitOutput(
  output: Promise<Json>,
  signal: AbortSignal,
  observed: ObservedContext,
  graceMs: number,
): Promise<Execution> {
  const { promise: overrun, reject } = Promise.withResolvers<never>();
  let patience: NodeJS.Timeout | undefined;
  const giveUp = (): void => {
    const { code, message } = reasonOf(signal);
    patience = setTimeout(
      () => reject(new ToolFailure(code, `${message} It did not stop; its effect may still happen.`)),
      graceMs,
    );
  };
  if (signal.aborted) giveUp();
  else signal.addEventListener('abort', giveUp, { once: true });
  try {
    const returned = await Promise.race([output, overrun]);
    return finish({ ok: true, output: returned }, observed, signal.aborted);
  } catch (error) {
    return fail(error, { signal, isOver: signal.aborted }, observed);
  } finally {
    signal.removeEventListener('abort', giveUp);
    clearTimeout(patience);
  }
}

function fail(error: unknown, deadline: Pick<Deadline, 'signal' | 'isOver'>, observed: ObservedContext): Execution {
  if (error instanceof ToolFailure) return finish({ ok: false, failure: error }, observed, deadline.isOver);
  // What a tool throws once it was told to stop is its way of stopping.
  if (deadline.isOver && error instanceof Error && error.name === 'AbortError')
    return finish({ ok: false, failure: reasonOf(deadline.signal) }, observed, true);
  throw error;
}

/** `wasStopped`: a tool that was told to stop may have been anywhere in its work. */
function finish(result: Execution['result'], observed: ObservedContext, wasStopped: boolean): Execution {
  const { changes, warnings, network } = observed;
  return {
    result,
    usage: observed.usage,
    changes,
    warnings: warnings.length === 0 ? undefined : warnings,
    network: network === undefined || network.isEmpty ? undefined : network,
    hasBegun: observed.hasBegun || wasStopped,
  };
}

function reasonOf(signal: AbortSignal): ToolFailure {
  return signal.reason instanceof ToolFailure ? signal.reason : new ToolFailure('CANCELLED', 'The call was cancelled.');
}
