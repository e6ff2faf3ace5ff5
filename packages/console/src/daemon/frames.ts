const prefixBytes = 5;
const lastFlag = 0x02;

export interface Frame {
  /** The last frame holds no message, but how the stream ended. */
  readonly isLast: boolean;
  readonly text: string;
}

/** A message as the Connect protocol sends it in a stream: one byte of flags, four of length, then the text. */
export function frameText(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(text);
  const framed = new Uint8Array(prefixBytes + bytes.length);
  new DataView(framed.buffer).setUint32(1, bytes.length);
  framed.set(bytes, prefixBytes);
  return framed;
}

/** Cuts what arrives, in pieces of any size, into frames. */
export class FrameReader {
  #pieces: Uint8Array[] = [];
  #size = 0;
  readonly #decoder = new TextDecoder();

  *read(chunk: Uint8Array): Generator<Frame, void, undefined> {
    this.#pieces.push(chunk);
    this.#size += chunk.length;
    for (;;) {
      if (this.#size < prefixBytes) return;
      const start = this.#join();
      const length = new DataView(start.buffer, start.byteOffset).getUint32(1);
      const end = prefixBytes + length;
      if (this.#size < end) return;
      yield {
        isLast: ((start[0] ?? 0) & lastFlag) !== 0,
        text: this.#decoder.decode(start.subarray(prefixBytes, end)),
      };
      this.#pieces = [start.subarray(end)];
      this.#size -= end;
    }
  }

  #join(): Uint8Array {
    const [first] = this.#pieces;
    if (first !== undefined && this.#pieces.length === 1) return first;
    const whole = new Uint8Array(this.#size);
    let at = 0;
    for (const piece of this.#pieces) {
      whole.set(piece, at);
      at += piece.length;
    }
    this.#pieces = [whole];
    return whole;
  }
}
