/** The most messages that wait for the handler before the sender is held back. */
const maxWaiting = 16;

export interface QueueSource {
  readonly pause: () => void;
  readonly resume: () => void;
}

/** Hands messages that arrive by event to a handler that reads them in a loop, all that have come at a time. One reader. */
export class MessageQueue<Item> implements AsyncIterableIterator<readonly Item[]> {
  readonly #source: QueueSource;
  #items: Item[] = [];
  #reader: PromiseWithResolvers<IteratorResult<readonly Item[]>> | undefined;
  #ended = false;
  #isHeld = false;
  /** So many wait, or are with the handler, that the source is held back. */
  #isFull = false;
  #error: Error | undefined;

  constructor(source: QueueSource) {
    this.#source = source;
  }

  push(item: Item): void {
    if (this.#ended) return;
    const count = this.#items.push(item);
    // What comes in one piece is handed out in one piece.
    if (count === 1 && this.#reader !== undefined) queueMicrotask(() => this.#settleReader());
    if (count < maxWaiting) return;
    this.#isFull = true;
    this.#source.pause();
  }

  /** Lets nothing more come in, whatever the handler reads, until `resume`. */
  hold(): void {
    this.#isHeld = true;
    this.#source.pause();
  }

  resume(): void {
    this.#isHeld = false;
    if (!this.#isFull) this.#source.resume();
  }

  /** What waits is still handed out; then the loop ends, or throws the error. */
  end(error?: Error): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    if (this.#reader !== undefined && this.#items.length === 0) this.#finishReader(this.#reader);
  }

  next(): Promise<IteratorResult<readonly Item[]>> {
    if (this.#items.length > 0) return Promise.resolve({ done: false, value: this.#takeItems() });
    // The handler has nothing left, so more may come in.
    if (this.#isFull && !this.#ended && !this.#isHeld) this.#source.resume();
    this.#isFull = false;
    this.#reader = Promise.withResolvers<IteratorResult<readonly Item[]>>();
    const { promise } = this.#reader;
    if (this.#ended) this.#finishReader(this.#reader);
    return promise;
  }

  /** The handler left its loop: nothing more is kept. */
  return(): Promise<IteratorResult<readonly Item[]>> {
    this.#ended = true;
    this.#items = [];
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #takeItems(): readonly Item[] {
    const items = this.#items;
    this.#items = [];
    return items;
  }

  #settleReader(): void {
    const reader = this.#reader;
    if (reader === undefined || this.#items.length === 0) return;
    this.#reader = undefined;
    reader.resolve({ done: false, value: this.#takeItems() });
  }

  #finishReader(reader: PromiseWithResolvers<IteratorResult<readonly Item[]>>): void {
    if (this.#error === undefined) reader.resolve({ done: true, value: undefined });
    else reader.reject(this.#error);
    this.#error = undefined;
    this.#reader = undefined;
  }
}
