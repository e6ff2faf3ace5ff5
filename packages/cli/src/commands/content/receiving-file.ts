import { constants } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { exitCodes } from '@sallyport/contract/codes';
import { ContentHasher, hashBlocks } from '@sallyport/gateway';
import { CommandFailure, describeError, usageFailure } from '../../client/failure.ts';

/** A file that is being received beside its place, and gets its name only when it is whole. */
export class ReceivingFile implements AsyncDisposable {
  readonly #path: string;
  readonly #partPath: string;
  readonly #handle: FileHandle;
  readonly #hasher: ContentHasher;
  #sizeBytes: number;

  private constructor(path: string, partPath: string, handle: FileHandle, hasher: ContentHasher, sizeBytes: number) {
    this.#path = path;
    this.#partPath = partPath;
    this.#handle = handle;
    this.#hasher = hasher;
    this.#sizeBytes = sizeBytes;
  }

  /** Goes on with what an earlier attempt left in `FILE.part`. */
  static async open(path: string): Promise<ReceivingFile> {
    const partPath = `${path}.part`;
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;
    const handle = await open(partPath, flags, 0o666).catch((error: unknown) => {
      throw usageFailure(`${partPath} cannot be written: ${describeError(error)}`);
    });
    const { size } = await handle.stat();
    const hasher = await hashBlocks(handle, size, new AbortController().signal);
    if (hasher !== undefined) return new ReceivingFile(path, partPath, handle, hasher, size);
    return new ReceivingFile(path, partPath, handle, new ContentHasher(), 0);
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#hasher.add(bytes);
    for (let done = 0; done < bytes.length;) {
      const { bytesWritten } = await this.#handle.write(bytes, done, bytes.length - done, this.#sizeBytes + done);
      done += bytesWritten;
    }
    this.#sizeBytes += bytes.length;
  }

  /** Throws, and drops what came, when it is not what was asked for. */
  async finish(hash: string): Promise<void> {
    if (this.#hasher.digest() !== hash) {
      await rm(this.#partPath, { force: true });
      throw notWhatWasAsked();
    }
    await this.#handle.sync();
    await rename(this.#partPath, this.#path);
  }

  /** What came stays for the next attempt, unless nothing came. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
    if (this.#sizeBytes === 0) await rm(this.#partPath, { force: true });
  }
}

export function notWhatWasAsked(): CommandFailure {
  const message = 'The bytes that came do not have the hash that was asked for.';
  return new CommandFailure('CONTENT_CORRUPTED', exitCodes.toolError, message, { remedy: 'Run the command again.' });
}
