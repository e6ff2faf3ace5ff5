import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { hasCode } from '@sallyport/sandbox';
import { ContentHasher } from './content-hash.ts';

/** What is read, hashed and checked at a time: the memory that a transfer takes, and the smallest read of a range. */
export const blockBytes = 256 * 1024;

/** Follows no link: content is never a link. */
export function openToRead(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
}

/** Fills the buffer from a position on. False when the file ends before that, or the disk cannot read it. */
export async function readFully(handle: FileHandle, buffer: Buffer, position: number): Promise<boolean> {
  try {
    for (let filled = 0; filled < buffer.length;) {
      const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, position + filled);
      if (bytesRead === 0) return false;
      filled += bytesRead;
    }
    return true;
  } catch (error) {
    if (hasCode(error, 'EIO', 'EISDIR')) return false;
    throw error;
  }
}

/**
 * Hashes the first `sizeBytes` of a file and shows each block to `visit`, which must not keep it: the memory is used
 * again. Undefined when fewer can be read. Throws the reason of the signal when that aborts.
 */
export async function hashBlocks(
  handle: FileHandle,
  sizeBytes: number,
  signal: AbortSignal,
  visit: (block: Buffer) => void = () => undefined,
): Promise<ContentHasher | undefined> {
  const hasher = new ContentHasher();
  const memory = Buffer.allocUnsafeSlow(Math.min(blockBytes, sizeBytes));
  for (let position = 0; position < sizeBytes; position += blockBytes) {
    signal.throwIfAborted();
    const block = memory.subarray(0, Math.min(blockBytes, sizeBytes - position));
    if (!(await readFully(handle, block, position))) return undefined;
    hasher.add(block);
    visit(block);
  }
  return hasher;
}
