/** How much more the peer may send, on a stream or on all of them. */
export class ReceiveWindow {
  readonly #bytes: number;
  #left: number;
  #unreturned = 0;

  constructor(bytes: number) {
    this.#bytes = bytes;
    this.#left = bytes;
  }

  /** False: that was more than allowed. */
  take(bytes: number): boolean {
    this.#left -= bytes;
    return this.#left >= 0;
  }

  /** Bytes were read, so that as many more may come. By how much the peer is to widen its window now: mostly 0. */
  giveBack(bytes: number): number {
    this.#unreturned += bytes;
    if (this.#unreturned < this.#bytes / 2) return 0;
    const more = this.#unreturned;
    this.#unreturned = 0;
    this.#left += more;
    return more;
  }
}
