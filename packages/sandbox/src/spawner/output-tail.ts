/**
 * More than the longest secret, however it is escaped: what is cut off here is never half of one that will be shown.
 */
const mostBytes = 512 * 1024;

/** The end of what a process writes, as bytes: a character may be split between two pieces. */
export class OutputTail {
  #chunks: Uint8Array[] = [];
  #bytes = 0;

  add(chunk: Uint8Array): void {
    this.#chunks.push(Buffer.from(chunk));
    this.#bytes += chunk.length;
    if (this.#bytes <= 2 * mostBytes) return;
    const kept = Buffer.concat(this.#chunks).subarray(-mostBytes);
    this.#chunks = [Buffer.from(kept)];
    this.#bytes = kept.length;
  }

  /** To be redacted before anybody cuts it further. */
  read(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}
