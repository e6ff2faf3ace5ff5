/**
 * Remembers what follows from a key and nothing else. Bounded: when it is full, all of it is forgotten and worked out
 * again, so that callers who make up keys cost time and no memory.
 */
export class Remembered<Key, Value> {
  readonly #known = new Map<Key, Value>();
  readonly #most: number;
  readonly #workOut: (key: Key) => Value;

  constructor(most: number, workOut: (key: Key) => Value) {
    this.#most = most;
    this.#workOut = workOut;
  }

  of(key: Key): Value {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const value = this.#workOut(key);
    if (this.#known.size >= this.#most) this.#known.clear();
    this.#known.set(key, value);
    return value;
  }
}
