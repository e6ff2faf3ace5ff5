/** How much of a literal is looked at. */
export const startLength = 3;

const slots = 1 << 15;

/**
 * Tells where in a text one of many literals may begin, by their first three characters in any case. A cheap look that
 * spares ordinary text the exact ones: it may be wrong about a place it names, never about one it passes over.
 */
export class LiteralStarts {
  readonly #table = new Uint8Array(slots);

  /** A literal has at least three characters. */
  add(literal: string): void {
    this.#table[addToHash(addToHash(addToHash(0, literal, 0), literal, 1), literal, 2)] = 1;
  }

  /** The first place at or after `from`; -1 when there is none. */
  next(text: string, from: number): number {
    const table = this.#table;
    let hash = addToHash(addToHash(0, text, from), text, from + 1);
    for (let at = from + 2; at < text.length; at++) {
      hash = addToHash(hash, text, at);
      if (table[hash] === 1) return at - 2;
    }
    return -1;
  }
}

/**
 * Five bits a character, so that the fourth pushes the first one out. Letters in either case count the same; what else
 * then counts the same costs a look in vain.
 */
function addToHash(hash: number, text: string, at: number): number {
  return ((hash << 5) ^ (text.charCodeAt(at) | 0x20)) & (slots - 1);
}
