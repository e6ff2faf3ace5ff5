const digestBytes = 32;
const defaultMaxBytes = 4 * 1024 * 1024;

/** Content that was verified: its size, and the digests of its blocks one after the other. */
export interface KnownBlocks {
  readonly sizeBytes: number;
  readonly digests: Buffer;
}

/** The digests of recently used content. 4 MiB of digests cover 32 GiB. */
export class BlockHashes {
  readonly #maxBytes: number;
  readonly #known = new Map<string, KnownBlocks>();
  #bytes = 0;

  constructor({ maxBytes = defaultMaxBytes }: { readonly maxBytes?: number } = {}) {
    this.#maxBytes = maxBytes;
  }

  find(hash: string): KnownBlocks | undefined {
    const blocks = this.#known.get(hash);
    if (blocks === undefined) return undefined;
    this.#known.delete(hash);
    this.#known.set(hash, blocks);
    return blocks;
  }

  remember(hash: string, blocks: KnownBlocks): void {
    this.#forget(hash);
    this.#known.set(hash, blocks);
    this.#bytes += blocks.digests.length;
    for (const oldest of this.#known.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#forget(oldest);
    }
  }

  #forget(hash: string): void {
    this.#bytes -= this.#known.get(hash)?.digests.length ?? 0;
    this.#known.delete(hash);
  }
}

export function digestAt(digests: Buffer, block: number): Buffer {
  return digests.subarray(block * digestBytes, (block + 1) * digestBytes);
}
