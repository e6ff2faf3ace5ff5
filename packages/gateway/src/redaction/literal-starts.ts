/** How much of a literal is looked at, unless told otherwise. */
export const startLength = 3;

const bitsOfCharacter = 5;

/**
 * Tells where in a text one of many literals may begin, by their first characters in any case. A cheap look that spares
 * ordinary text the exact ones: it may be wrong about a place it names, never about one it passes over.
 */
export class LiteralStarts {
  readonly #length: number;
  readonly #mask: number;
  readonly #shift: number;
  readonly #table: Uint8Array;

  /** `length`: of how many first characters, at most six. The more literals there are, the more it takes to tell them. */
  constructor({ length = startLength }: { readonly length?: number } = {}) {
    this.#length = length;
    this.#mask = 2 ** (bitsOfCharacter * length) - 1;
    const bits = Math.min(bitsOfCharacter * length, 20);
    this.#shift = 32 - bits;
    this.#table = new Uint8Array(2 ** bits);
  }

  /** A literal has at least as many characters as are looked at. */
  add(literal: string): void {
    let hash = 0;
    for (let at = 0; at < this.#length; at++) hash = addToHash(hash, literal, at, this.#mask);
    this.#table[spread(hash, this.#shift)] = 1;
  }

  /** The first place at or after `from`; -1 when no literal follows. */
  next(text: string, from: number): number {
    const [table, mask, shift] = [this.#table, this.#mask, this.#shift];
    const before = this.#length - 1;
    let hash = 0;
    for (let at = from; at < from + before; at++) hash = addToHash(hash, text, at, mask);
    for (let at = from + before; at < text.length; at++) {
      hash = addToHash(hash, text, at, mask);
      if (table[spread(hash, shift)] === 1) return at - before;
    }
    return -1;
  }
}

/**
 * Five bits a character, so that each pushes an earlier one out. Letters in either case count the same; what else then
 * counts the same costs a look in vain.
 */
function addToHash(hash: number, text: string, at: number, mask: number): number {
  return ((hash << bitsOfCharacter) ^ (text.charCodeAt(at) | 0x20)) & mask;
}

/** Texts that differ little get places that differ much. */
function spread(hash: number, shift: number): number {
  return Math.imul(hash, 0x9e3779b1) >>> shift;
}
