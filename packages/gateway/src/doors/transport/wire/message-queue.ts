/** The most messages that wait for the handler before the sender is held back. */
const maxWaiting = 16;

export interface QueueSource {
  readonly pause: () => void;
  readonly resume: () => void;
}

/** Hands messages that arrive by event to a handler that reads them in a loop. One reader. */
export class MessageQueue<Item> implements AsyncIterableIterator<Item> {
  readonly #source: QueueSource;
  readonly #items: Item[] = [];
  #reader: PromiseWithResolvers<IteratorResult<Item>> | undefined;
  #ended = false;
  #isHeld = false;
  #error: Error | undefined;

  constructor(source: QueueSource) {
    this.#source = source;
  }

  push(item: Item): void {
    if (this.#ended) return;
    if (this.#reader !== undefined) {
      this.#settleReader({ done: false, value: item });
      return;
    }
    this.#items.push(item);
    if (this.#items.length >= maxWaiting) this.#source.pause();
  }

  /** Lets nothing more come in, whatever the handler reads, until `resume`. */
  hold(): void {
    this.#isHeld = true;
    this.#source.pause();
  }

  resume(): void {
    this.#isHeld = false;
    if (this.#items.length < maxWaiting) this.#source.resume();
  }

  /** What waits is still handed out; then the loop ends, or throws the error. */
  end(error?: Error): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    if (this.#reader !== undefined) this.#finishReader(this.#reader);
  }

  next(): Promise<IteratorResult<Item>> {
    const item = this.#items.shift();
    if (item !== undefined) {
      if (this.#items.length === 0 && !this.#ended && !this.#isHeld) this.#source.resume();
      return Promise.resolve({ done: false, value: item });
    }
    this.#reader = Promise.withResolvers<IteratorResult<Item>>();
    const { promise } = this.#reader;
    if (this.#ended) this.#finishReader(this.#reader);
    return promise;
  }

  /** The handler left its loop: nothing more is kept. */
  return(): Promise<IteratorResult<Item>> {
    this.#ended = true;
    this.#items.length = 0;
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #settleReader(result: IteratorResult<Item>): void {
    this.#reader?.resolve(result);
    this.#reader = undefined;
  }

  #finishReader(reader: PromiseWithResolvers<IteratorResult<Item>>): void {
    if (this.#error === undefined) reader.resolve({ done: true, value: undefined });
    else reader.reject(this.#error);
    this.#error = undefined;
    this.#reader = undefined;
  }
}
