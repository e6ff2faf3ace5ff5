const [varint, bits64, delimited] = [0, 1, 2];

/** What a field takes beside its text: its tag, and the longest number or length. */
export const mostBytesOfField = 11;

/** The most bytes that a text takes as a field. */
export function mostBytesOf(text: string): number {
  return mostBytesOfField + 3 * text.length;
}

/**
 * Writes one protobuf message into one piece of memory, whose size the caller knows to suffice. Field numbers are below
 * 16. As in every message, a text that is empty and a count of zero are left out.
 */
export class MessageWriter {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(mostBytes: number) {
    this.#bytes = Buffer.allocUnsafe(mostBytes);
  }

  text(field: number, value: string): void {
    if (value !== '') this.element(field, value);
  }

  /** A text of a list: an empty one counts, too. */
  element(field: number, value: string): void {
    const from = this.begin(field);
    this.#at += this.#bytes.write(value, this.#at);
    this.end(from);
  }

  bytes(field: number, value: Uint8Array): void {
    this.#bytes[this.#at++] = (field << 3) | delimited;
    this.#number(value.length);
    this.#bytes.set(value, this.#at);
    this.#at += value.length;
  }

  /** A whole number from 0 to 2^53. */
  count(field: number, value: number): void {
    if (value !== 0) this.presentCount(field, value);
  }

  /** The same for a field that may be absent: here zero says something. */
  presentCount(field: number, value: number): void {
    this.#bytes[this.#at++] = (field << 3) | varint;
    this.#number(value);
  }

  presentDouble(field: number, value: number): void {
    this.#bytes[this.#at++] = (field << 3) | bits64;
    this.#at = this.#bytes.writeDoubleLE(value, this.#at);
  }

  /** A message inside. What is written up to `end`, which gets the value that this returns, stands in it. */
  begin(field: number): number {
    this.#bytes[this.#at++] = (field << 3) | delimited;
    return this.#at++;
  }

  end(from: number): void {
    const length = this.#at - from - 1;
    if (length < 0x80) {
      this.#bytes[from] = length;
      return;
    }
    // One byte was kept for the length, which takes more: what it belongs to moves up.
    const moved = from + bytesOfNumber(length);
    this.#bytes.copyWithin(moved, from + 1, this.#at);
    this.#at = from;
    this.#number(length);
    this.#at = moved + length;
  }

  finish(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }

  #number(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#at++] = rest;
  }
}

function bytesOfNumber(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes++;
  return bytes;
}
