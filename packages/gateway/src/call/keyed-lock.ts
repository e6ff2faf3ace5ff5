/** Lets one holder a key go on; the others wait in order. */
export class KeyedLock {
  readonly #tails = new Map<string, Promise<void>>();

  /**
   * Resolves with the release once all earlier holders of the key have released it; with undefined when the caller
   * goes away while waiting. Every release must be called, or the key stays held for ever.
   */
  async acquire(key: string, signal: AbortSignal): Promise<(() => void) | undefined> {
    const before = this.#tails.get(key);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#tails.set(key, promise);
    const release = (): void => {
      if (this.#tails.get(key) === promise) this.#tails.delete(key);
      resolve();
    };
    if (before === undefined || (await endsFirst(before, signal))) return release;
    // Those behind still wait for those before: the place is given up only when it comes up.
    void before.then(release);
    return undefined;
  }
}

/** Whether the promise resolves before the signal aborts. */
async function endsFirst(promise: Promise<void>, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false;
  const { promise: aborted, resolve } = Promise.withResolvers<boolean>();
  const abort = (): void => resolve(false);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([promise.then(() => true), aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
