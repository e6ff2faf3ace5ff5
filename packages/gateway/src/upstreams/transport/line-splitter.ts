const newline = 0x0a;

/** Assembles lines from chunks, keeping at most one line of the largest size. */
export class LineSplitter {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #heldBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that end in this chunk, without the empty ones. Undefined stands for one that is too long: then stop. */
  *split(chunk: Uint8Array): Generator<Buffer | undefined> {
    // The owner of the chunk may reuse it.
    let rest = Buffer.from(chunk);
    for (let end = rest.indexOf(newline); end >= 0; end = rest.indexOf(newline)) {
      const head = rest.subarray(0, end);
      rest = rest.subarray(end + 1);
      if (this.#heldBytes + head.length > this.#maxBytes) {
        yield undefined;
        return;
      }
      const line = this.#parts.length === 0 ? head : Buffer.concat([...this.#parts, head]);
      this.#parts = [];
      this.#heldBytes = 0;
      if (line.length > 0) yield line;
    }
    if (rest.length === 0) return;
    this.#parts.push(rest);
    this.#heldBytes += rest.length;
    if (this.#heldBytes > this.#maxBytes) yield undefined;
  }
}
