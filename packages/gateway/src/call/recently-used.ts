/**
 * Values by key, of which those used last stay: at least `least` of them, and never more than twice as many. A young
 * map takes what is used; when it is full it becomes the old one, and what nobody used since then is forgotten. So a
 * use moves nothing while its value is young, where a single map in order of use would delete and insert each time.
 */
export class RecentlyUsed<Key, Value> {
  readonly #least: number;
  #young = new Map<Key, Value>();
  #old: Map<Key, Value> | undefined;

  constructor(least: number) {
    this.#least = least;
  }

  /** Counts as a use. */
  get(key: Key): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old?.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: Key, value: Value): void {
    if (this.#young.size >= this.#least && !this.#young.has(key)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }

  delete(key: Key): void {
    this.#young.delete(key);
    this.#old?.delete(key);
  }
}
