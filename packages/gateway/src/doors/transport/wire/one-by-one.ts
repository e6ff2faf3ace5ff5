import type { Peer } from '../peer.ts';
import type { BidiStreamHandler } from '../service-binding.ts';

/** A handler that takes and gives its messages one by one, in the form that serves all. */
export function oneByOne<Input, Output>(
  handle: (requests: AsyncIterable<Input>, peer: Peer) => AsyncIterable<Output>,
): BidiStreamHandler<Input, Output> {
  return (requests, peer) => eachAlone(handle(each(requests), peer));
}

/** No generator: to leave it must not wait for the next message, which may never come. */
function each<Item>(batches: AsyncIterable<readonly Item[]>): AsyncIterableIterator<Item> {
  const source = batches[Symbol.asyncIterator]();
  let batch: readonly Item[] = [];
  let at = 0;
  return {
    next: async () => {
      while (at === batch.length) {
        const next = await source.next();
        if (next.done === true) return { done: true, value: undefined };
        [batch, at] = [next.value, 0];
      }
      return { done: false, value: batch[at++] as Item };
    },
    return: async () => {
      [batch, at] = [[], 0];
      await source.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

export async function* eachAlone<Item>(items: AsyncIterable<Item>): AsyncGenerator<readonly Item[], void, undefined> {
  for await (const item of items) yield [item];
}
