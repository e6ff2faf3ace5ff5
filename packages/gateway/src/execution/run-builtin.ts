import type { Json } from '@sallyport/contract';
import type { Execution } from '../call/call.ts';
import { Cancellation } from '../call/cancellation.ts';
import type { AbortLike } from '../call/cancellation.ts';
import { ToolFailure } from '../call/tool.ts';
import type { ObservedContext } from './tool-context.ts';

const defaultGraceMs = 5000;

/** What a deadline needs to know about the call. */
interface Timed {
  readonly cancellation: AbortLike;
}

/**
 * Ends a tool when the caller goes away, the gate stops the call or the time is up, and says which. It watches from the
 * moment that somebody asks for its cancellation: for a tool that is done at once, nobody does.
 */
export class Deadline {
  readonly #call: Timed;
  readonly #timeoutMs: number;
  #cancellation: Cancellation | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(call: Timed, timeoutMs: number) {
    this.#call = call;
    this.#timeoutMs = timeoutMs;
  }

  get isOver(): boolean {
    return (this.#cancellation ?? this.#call.cancellation).aborted;
  }

  get cancellation(): AbortLike {
    return this.#cancellation ?? this.#watch();
  }

  /** The same, for those who take nothing else. */
  get signal(): AbortSignal {
    return (this.#cancellation ?? this.#watch()).signal;
  }

  close(): void {
    clearTimeout(this.#timer);
    if (this.#cancellation !== undefined) this.#call.cancellation.removeEventListener('abort', this.#cancel);
  }

  #watch(): Cancellation {
    const made = (this.#cancellation = new Cancellation());
    const { cancellation } = this.#call;
    if (cancellation.aborted) this.#cancel();
    else cancellation.addEventListener('abort', this.#cancel, { once: true });
    this.#timer = setTimeout(() => {
      made.abort(new ToolFailure('TIMEOUT', `The call took longer than ${this.#timeoutMs} ms.`));
    }, this.#timeoutMs);
    return made;
  }

  readonly #cancel = (): void => {
    const said: unknown = this.#call.cancellation.reason;
    this.#cancellation?.abort(
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
  if (deadline.isOver) return finish({ ok: false, failure: reasonOf(deadline.cancellation) }, observed, false);
  try {
    const output = run();
    if (output instanceof Promise) return awaitOutput(output, deadline.cancellation, observed, graceMs);
    return finish({ ok: true, output }, observed, deadline.isOver);
  } catch (error) {
    return fail(error, deadline, observed);
  }
}

async function awaitOutput(
  output: Promise<Json>,
  cancellation: AbortLike,
  observed: ObservedContext,
  graceMs: number,
): Promise<Execution> {
  const { promise: overrun, reject } = Promise.withResolvers<never>();
  let patience: NodeJS.Timeout | undefined;
  const giveUp = (): void => {
    const { code, message } = reasonOf(cancellation);
    patience = setTimeout(
      () => reject(new ToolFailure(code, `${message} It did not stop; its effect may still happen.`)),
      graceMs,
    );
  };
  if (cancellation.aborted) giveUp();
  else cancellation.addEventListener('abort', giveUp, { once: true });
  try {
    const returned = await Promise.race([output, overrun]);
    return finish({ ok: true, output: returned }, observed, cancellation.aborted);
  } catch (error) {
    return fail(error, { cancellation, isOver: cancellation.aborted }, observed);
  } finally {
    cancellation.removeEventListener('abort', giveUp);
    clearTimeout(patience);
  }
}

function fail(
  error: unknown,
  deadline: Pick<Deadline, 'cancellation' | 'isOver'>,
  observed: ObservedContext,
): Execution {
  if (error instanceof ToolFailure) return finish({ ok: false, failure: error }, observed, deadline.isOver);
  // What a tool throws once it was told to stop is its way of stopping.
  if (deadline.isOver && error instanceof Error && error.name === 'AbortError')
    return finish({ ok: false, failure: reasonOf(deadline.cancellation) }, observed, true);
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

function reasonOf({ reason }: AbortLike): ToolFailure {
  return reason instanceof ToolFailure ? reason : new ToolFailure('CANCELLED', 'The call was cancelled.');
}
