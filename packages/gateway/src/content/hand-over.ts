import { ToolFailure } from '../call/tool.ts';

interface Offer<Item> {
  readonly item: Item;
  readonly settle: () => void;
  readonly fail: (error: Error) => void;
}

/** Hands items from one writer to one reader, one at a time: neither is ever more than an item ahead. */
export class HandOver<Item> implements AsyncIterableIterator<Item> {
  /** The item that waits for the reader. */
  #offer: Offer<Item> | undefined;
  /** The item that the reader has. */
  #taken: Offer<Item> | undefined;
  #reader: ((result: IteratorResult<Item>) => void) | undefined;
  #ended = false;
  #left = false;

  /** Resolves when the reader has come back for the next item. Rejects when the reader leaves or the signal aborts. */
  write(item: Item, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#left) return reject(readerLeft());
      if (signal.aborted) return reject(signal.reason as Error);
      const onAbort = (): void => {
        if (this.#offer === offer) this.#offer = undefined;
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      const forget = (): void => signal.removeEventListener('abort', onAbort);
      const offer: Offer<Item> = {
        item,
        settle: () => (forget(), resolve()),
        fail: (error) => (forget(), reject(error)),
      };
      this.#offer = offer;
      this.#deliver();
    });
  }

  /** The writer has no more. */
  end(): void {
    this.#ended = true;
    this.#deliver();
  }

  next(): Promise<IteratorResult<Item>> {
    this.#taken?.settle();
    this.#taken = undefined;
    return new Promise((resolve) => {
      this.#reader = resolve;
      this.#deliver();
    });
  }

  /** The reader leaves its loop. */
  return(): Promise<IteratorResult<Item>> {
    this.#left = true;
    for (const offer of [this.#taken, this.#offer]) offer?.fail(readerLeft());
    this.#taken = this.#offer = undefined;
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #deliver(): void {
    const read = this.#reader;
    const offer = this.#offer;
    if (read === undefined || (offer === undefined && !this.#ended)) return;
    this.#reader = this.#offer = undefined;
    this.#taken = offer;
    read(offer === undefined ? { done: true, value: undefined } : { done: false, value: offer.item });
  }
}

function readerLeft(): ToolFailure {
  return new ToolFailure('CANCELLED', 'The caller stopped reading the content.');
}
