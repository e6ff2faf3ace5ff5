import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { hashBlocks } from '@sallyport/gateway';
import { describeError, hasErrorCode, usageFailure } from '../../client/failure.ts';
import type { OnProgress } from './transfer-content.ts';

/** A file to send, whose size and hash are known beforehand: so a transfer that breaks off can go on. */
export class SendingFile implements AsyncDisposable {
  readonly hash: string;
  readonly sizeBytes: number;
  readonly #handle: FileHandle;

  private constructor(handle: FileHandle, hash: string, sizeBytes: number) {
    this.#handle = handle;
    this.hash = hash;
    this.sizeBytes = sizeBytes;
  }

  static async open(path: string, onProgress: OnProgress): Promise<SendingFile> {
    const handle = await open(path, 'r').catch((error: unknown) => {
      throw usageFailure(hasErrorCode(error, 'ENOENT') ? `There is no file ${path}.` : describeError(error));
    });
    try {
      const found = await handle.stat();
      if (!found.isFile()) throw usageFailure(`${path} is not a file.`, 'To send what a program prints, use -.');
      let read = 0;
      const hasher = await hashBlocks(handle, found.size, new AbortController().signal, (block) => {
        read += block.length;
        onProgress(read, found.size);
      });
      if (hasher === undefined) throw usageFailure(`${path} became shorter while it was read.`);
      return new SendingFile(handle, hasher.digest(), found.size);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  readFrom(offset: number): Readable {
    return this.#handle.createReadStream({ start: offset, autoClose: false, highWaterMark: 256 * 1024 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }
}
