/** Lets one holder a key go on; the others wait in order. */
export class KeyedLock {
  readonly #tails = new Map<string, Promise<void>>();

  /** Resolves with the release once all earlier holders of the key have released it. */
  async acquire(key: string): Promise<() => void> {
    const before = this.#tails.get(key);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#tails.set(key, promise);
    await before;
    return () => {
      if (this.#tails.get(key) === promise) this.#tails.delete(key);
      resolve();
    };
  }
}
