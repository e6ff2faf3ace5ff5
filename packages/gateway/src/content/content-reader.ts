import type { FileHandle } from 'node:fs/promises';
import { blake3 } from '@napi-rs/blake-hash';
import { hasCode } from '@sallyport/sandbox';
import { digestAt } from './block-hashes.ts';
import type { BlockHashes } from './block-hashes.ts';
import { corruptedContent, noSuchContent } from './content-failures.ts';
import { blockBytes, hashBlocks, openToRead, readFully } from './read-blocks.ts';

export interface Range {
  readonly offset: number;
  /** At most this many bytes; the range ends with the content. */
  readonly limit: number;
}

/**
 * Content that is open for reading. No byte leaves it unverified: opening ties the digest of each block to the hash of
 * the whole, by reading all of it unless that was done lately, and each block is compared with its digest when it is
 * read. So a range costs its own blocks, and damage done after opening is found as well.
 */
export class ContentReader implements AsyncDisposable {
  readonly hash: string;
  readonly sizeBytes: number;
  readonly #handle: FileHandle;
  readonly #digests: Buffer;

  private constructor(hash: string, sizeBytes: number, handle: FileHandle, digests: Buffer) {
    this.hash = hash;
    this.sizeBytes = sizeBytes;
    this.#handle = handle;
    this.#digests = digests;
  }

  /** Throws ToolFailure: NOT_FOUND, or CONTENT_CORRUPTED. */
  static async open(path: string, hash: string, known: BlockHashes, signal: AbortSignal): Promise<ContentReader> {
    const handle = await openContent(path, hash);
    try {
      const { size } = await handle.stat();
      const digests = await digestsOf(handle, hash, size, known, signal);
      return new ContentReader(hash, size, handle, digests);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /**
   * The bytes of a range, a block at a time. A piece is valid until the next one is read, because the memory is reused.
   */
  async *read({ offset, limit }: Range, signal: AbortSignal): AsyncGenerator<Buffer> {
    const end = Math.min(this.sizeBytes, offset + limit);
    const memory = Buffer.allocUnsafeSlow(Math.min(blockBytes, this.sizeBytes));
    for (let at = offset; at < end;) {
      signal.throwIfAborted();
      const index = Math.floor(at / blockBytes);
      const block = await this.#readBlock(index, memory);
      const piece = block.subarray(at - index * blockBytes, end - index * blockBytes);
      yield piece;
      at += piece.length;
    }
  }

  /** Remembers that the content was used, at most once an hour: what is in use is not garbage. */
  async touch(nowMs: number): Promise<void> {
    const { mtimeMs } = await this.#handle.stat();
    if (nowMs - mtimeMs > touchEveryMs) await this.#handle.utimes(nowMs / 1000, nowMs / 1000);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }

  async #readBlock(index: number, memory: Buffer): Promise<Buffer> {
    const start = index * blockBytes;
    const block = memory.subarray(0, Math.min(blockBytes, this.sizeBytes - start));
    const isThere = await readFully(this.#handle, block, start);
    if (!isThere || !blake3(block).equals(digestAt(this.#digests, index))) throw corruptedContent(this.hash);
    return block;
  }
}

const touchEveryMs = 3_600_000;

async function openContent(path: string, hash: string): Promise<FileHandle> {
  try {
    return await openToRead(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) throw noSuchContent(hash);
    if (hasCode(error, 'ELOOP', 'EIO')) throw corruptedContent(hash, { cause: error });
    throw error;
  }
}

/** The digest of each block. For content of one block it is the hash itself. */
async function digestsOf(
  handle: FileHandle,
  hash: string,
  sizeBytes: number,
  known: BlockHashes,
  signal: AbortSignal,
): Promise<Buffer> {
  if (sizeBytes > 0 && sizeBytes <= blockBytes) return Buffer.from(hash, 'hex');
  const remembered = known.find(hash);
  if (remembered?.sizeBytes === sizeBytes) return remembered.digests;
  const digests: Buffer[] = [];
  const whole = await hashBlocks(handle, sizeBytes, signal, (block) => digests.push(blake3(block)));
  if (whole?.digest() !== hash) throw corruptedContent(hash);
  const joined = Buffer.concat(digests);
  known.remember(hash, { sizeBytes, digests: joined });
  return joined;
}
