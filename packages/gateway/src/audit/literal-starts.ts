const tableSize = 1 << 16;

/**
 * Tells where in a text one of many literals may begin, by their first three characters in any case. A cheap look that
 * spares ordinary text the exact ones: it may be wrong about a place it names, never about one it passes over.
 */
export class LiteralStarts {
  readonly #table = new Uint8Array(tableSize);

  /** A literal has at least three characters. */
  add(literal: string): void {
    const [first, second, third] = [foldedCode(literal, 0), foldedCode(literal, 1), foldedCode(literal, 2)];
    this.#table[slotOf(first, second, third)] = 1;
  }

  /** The first place at or after `from`; -1 when there is none. */
  next(text: string, from: number): number {
    const last = text.length - 3;
    let first = foldedCode(text, from);
    let second = foldedCode(text, from + 1);
    for (let at = from; at <= last; at++) {
      const third = foldedCode(text, at + 2);
      if (this.#table[slotOf(first, second, third)] === 1) return at;
      first = second;
      second = third;
    }
    return -1;
  }
}

/** Letters in either case have one code; that other characters then share some costs a look in vain. */
function foldedCode(text: string, at: number): number {
  return text.charCodeAt(at) | 0x20;
}

function slotOf(first: number, second: number, third: number): number {
  return ((first << 10) ^ (second << 5) ^ third) & (tableSize - 1);
}
