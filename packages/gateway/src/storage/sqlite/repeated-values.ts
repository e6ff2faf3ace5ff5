import type { Reservation } from '../../call/call.ts';

/** What most operations repeat: ids of sessions, names of tools, the limits of a kind of call. */
export type Repeated = string | readonly Reservation[];

/** Each end keeps as many values, and forgets all of them at the same place of the stream. */
export const mostKept = 1000;

/**
 * A value crosses from one thread to the other once; after that, its number does. Not for texts that differ each time.
 * Lists are known again by identity, and frozen, because the other side would not see a change.
 */
export class SentValues {
  readonly #numbers = new Map<Repeated, number>();
  #count = 0;

  /** How many values have crossed. */
  get count(): number {
    return this.#count;
  }

  encode(value: Repeated): Repeated | number {
    const known = this.#numbers.get(value);
    if (known !== undefined) return known;
    if (this.#numbers.size === mostKept) this.#numbers.clear();
    this.#numbers.set(value, this.#numbers.size);
    this.#count += 1;
    if (typeof value === 'object') for (const each of Object.freeze(value)) Object.freeze(each);
    return value;
  }
}

/** The other end. Values are the very same each time, so they are quickly compared and looked up. */
export class ReceivedValues {
  #values: Repeated[] = [];
  #count = 0;

  /** Throws if this end missed any of the values that had crossed by then: numbers would stand for others. */
  checkCount(sent: unknown): void {
    if (sent !== this.#count) throw new Error('the threads of the store do not know the same values');
  }

  decode(code: Repeated | number): Repeated {
    if (typeof code === 'number') {
      const known = this.#values[code];
      if (known === undefined) throw new Error(`no value has crossed with number ${code}`);
      return known;
    }
    if (this.#values.length === mostKept) this.#values = [];
    this.#values.push(code);
    this.#count += 1;
    return code;
  }
}
