/** The part of an AbortSignal that tells when a call ends. */
export interface AbortLike {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once: true }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * Says that something is not wanted any more, and why. It makes an AbortSignal only for those who ask for one: most calls
 * are over before anybody does, and a signal costs more than a gate.
 */
export class Cancellation implements AbortLike {
  #isAborted = false;
  #reason: unknown;
  #controller: AbortController | undefined;
  /** Most have one. */
  #listener: (() => void) | undefined;
  #others: Set<() => void> | undefined;

  get aborted(): boolean {
    return this.#isAborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  /** The same as a signal, for those who take nothing else. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#isAborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Only the first one counts. */
  abort(reason: unknown): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
    const [first, others] = [this.#listener, this.#others];
    this.#listener = this.#others = undefined;
    first?.();
    for (const listener of others ?? []) listener();
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (this.#isAborted || listener === this.#listener) return;
    if (this.#listener === undefined && this.#others === undefined) this.#listener = listener;
    else (this.#others ??= new Set()).add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    if (listener === this.#listener) this.#listener = undefined;
    else this.#others?.delete(listener);
  }
}

/** The same as a signal, for those who take nothing else. */
export function signalOf(ending: AbortLike): AbortSignal {
  if (ending instanceof AbortSignal) return ending;
  return (ending instanceof Cancellation ? ending : follow(ending)).signal;
}

/** One that ends with the signal. */
export function follow(signal: AbortLike): Cancellation {
  const cancellation = new Cancellation();
  const end = (): void => cancellation.abort(signal.reason);
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  return cancellation;
}

/** Rejects with the reason of the signal at once, whatever the promise does. */
export function orAborted<T>(promise: Promise<T>, signal: AbortLike): Promise<T> {
  promise.catch(() => undefined);
  const { promise: settled, resolve, reject } = Promise.withResolvers<T>();
  const abort = (): void => reject(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  promise.then(resolve, reject);
  return settled.finally(() => signal.removeEventListener('abort', abort));
}
