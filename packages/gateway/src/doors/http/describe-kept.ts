import type { JsonObject } from '@sallyport/contract';

/** Stands for an output that is too large for an answer: where it lies, and how to get it. */
export function describeKept(resultHash: Uint8Array, resultSize: bigint): JsonObject {
  return {
    result_hash: resultHash.toHex(),
    result_size: Number(resultSize),
    note: 'The output is too large for an answer. Read it in pieces with the tool content.get, by its hash.',
  };
}
