import { CompressionError } from './compression-error.ts';
import { decodeHuffman } from './huffman.ts';

/** Reads the numbers and texts of one block, RFC 7541, section 5. Whatever is not whole is a CompressionError. */
export class BlockReader {
  readonly #block: Buffer;
  #at = 0;

  constructor(block: Buffer) {
    this.#block = block;
  }

  get atEnd(): boolean {
    return this.#at >= this.#block.length;
  }

  /** The byte that comes next, which stays. 0 at the end. */
  get next(): number {
    return this.#block[this.#at] ?? 0;
  }

  /** A number that begins in the last bits of the next byte. */
  readNumber(prefixBits: number): number {
    const full = (1 << prefixBits) - 1;
    let value = this.#readByte() & full;
    if (value < full) return value;
    for (let factor = 1; factor <= 2 ** 28; factor *= 2 ** 7) {
      const byte = this.#readByte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
    throw new CompressionError('A number is too long.');
  }

  /** One character a byte. */
  readText(): string {
    const isHuffman = this.next >= 0x80;
    const length = this.readNumber(7);
    const start = this.#at;
    const end = start + length;
    if (end > this.#block.length) throw new CompressionError('The block ends within a text.');
    this.#at = end;
    if (!isHuffman) return this.#block.toString('latin1', start, end);
    const text = decodeHuffman(this.#block, start, end);
    if (text === undefined) throw new CompressionError('A text is not in the Huffman code.');
    return text;
  }

  #readByte(): number {
    const byte = this.#block[this.#at++];
    if (byte === undefined) throw new CompressionError('The block ends within a field.');
    return byte;
  }
}
