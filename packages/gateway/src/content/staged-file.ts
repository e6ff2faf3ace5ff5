import { open, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { ContentHasher } from './content-hash.ts';
import { blockBytes, hashBlocks, readFully } from './read-blocks.ts';

/** Throws when this many more bytes must not be written. Called before each block. */
export type SpaceCheck = (bytes: number) => Promise<void>;

/** Content on its way in: gathered into blocks, hashed and written. Exactly one of the three endings must be called. */
export class StagedFile {
  readonly path: string;
  readonly #handle: FileHandle;
  readonly #checkSpace: SpaceCheck;
  readonly #hasher: ContentHasher;
  readonly #block = Buffer.allocUnsafeSlow(blockBytes);
  #filled = 0;
  #writtenBytes: number;

  private constructor(path: string, handle: FileHandle, checkSpace: SpaceCheck, hasher: ContentHasher, bytes: number) {
    this.path = path;
    this.#handle = handle;
    this.#checkSpace = checkSpace;
    this.#hasher = hasher;
    this.#writtenBytes = bytes;
  }

  static async create(path: string, checkSpace: SpaceCheck): Promise<StagedFile> {
    return new StagedFile(path, await open(path, 'w', 0o600), checkSpace, new ContentHasher(), 0);
  }

  /** Continues after the first `offset` bytes. They are read again, so that damage by a crash shows in the hash. */
  static async resume(
    path: string,
    offset: number,
    checkSpace: SpaceCheck,
    signal: AbortSignal,
  ): Promise<StagedFile | undefined> {
    const handle = await open(path, 'r+');
    try {
      const wholeBytes = offset - (offset % blockBytes);
      const hasher = await hashBlocks(handle, wholeBytes, signal);
      if (hasher !== undefined) {
        const staged = new StagedFile(path, handle, checkSpace, hasher, wholeBytes);
        if (await staged.#takeBack(offset - wholeBytes)) return staged;
      }
      await handle.close();
      return undefined;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  get receivedBytes(): number {
    return this.#writtenBytes + this.#filled;
  }

  async add(chunk: Uint8Array): Promise<void> {
    for (let from = 0; from < chunk.length;) {
      const part = chunk.subarray(from, from + blockBytes - this.#filled);
      this.#block.set(part, this.#filled);
      this.#filled += part.length;
      from += part.length;
      if (this.#filled === blockBytes) await this.#writeBlock();
    }
  }

  /** Everything is on disk when it resolves, and the file is closed. Nothing may be written to it afterwards. */
  async finish(): Promise<{ readonly hash: string; readonly sizeBytes: number }> {
    await this.#writeBlock();
    await this.#handle.truncate(this.#writtenBytes);
    await this.#handle.sync();
    await this.#handle.close();
    return { hash: this.#hasher.digest(), sizeBytes: this.#writtenBytes };
  }

  /** Leaves what has come for a later `resume`. */
  async keep(): Promise<void> {
    await this.#writeBlock();
    await this.#handle.truncate(this.#writtenBytes);
    await this.#handle.close();
  }

  async discard(): Promise<void> {
    await this.#handle.close().catch(() => undefined);
    await rm(this.path, { force: true });
  }

  async #writeBlock(): Promise<void> {
    if (this.#filled === 0) return;
    const block = this.#block.subarray(0, this.#filled);
    await this.#checkSpace(block.length);
    this.#hasher.add(block);
    for (let done = 0; done < block.length;) {
      const { bytesWritten } = await this.#handle.write(block, done, block.length - done, this.#writtenBytes + done);
      done += bytesWritten;
    }
    this.#writtenBytes += block.length;
    this.#filled = 0;
  }

  /** The bytes of an unfinished block are gathered again, and written again with those that follow. */
  async #takeBack(bytes: number): Promise<boolean> {
    const isThere = await readFully(this.#handle, this.#block.subarray(0, bytes), this.#writtenBytes);
    if (isThere) this.#filled = bytes;
    return isThere;
  }
}
