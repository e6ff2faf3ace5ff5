import type { Hash } from 'node:crypto';
import { close, constants, fsync, openSync, read, readSync, write, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import type { ToolContext } from '../../call/tool.ts';
import type { OpenFolder } from '../../paths/open-path.ts';
import { checkSignal } from './check-signal.ts';
import { spellCount } from '@sallyport/contract';
import { refuse } from '../../call/refusal.ts';
import { ToolRefused } from '../../call/tool.ts';

const readAsync = promisify(read);
const writeAsync = promisify(write);
const closeAsync = promisify(close);

/** Up to this size a call into the kernel takes less of the main thread than a trip through the thread pool. */
export const maxSyncBytes = 64 * 1024;
const chunkBytes = 1024 * 1024;
const pieceBytes = 256 * 1024;

/** The same up to `maxSyncBytes`, at once. */
export function readSmall(fd: number, position: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(fd, buffer, filled, length - filled, position + filled);
    if (count === 0) break;
    filled += count;
  }
  return buffer.subarray(0, filled);
}

/** Reads up to `length` bytes at `position`; fewer where the file ends. */
export async function readBytes(fd: number, position: number, length: number, signal: AbortSignal): Promise<Buffer> {
  if (length <= maxSyncBytes) return readSmall(fd, position, length);
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const wanted = Math.min(length - filled, chunkBytes);
    const { bytesRead } = await readAsync(fd, buffer, filled, wanted, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
    checkSignal(signal);
  }
  return buffer.subarray(0, filled);
}

/** The bytes of a range in the memory of one piece: each is good until the next is asked for. */
export async function* readInPieces(
  fd: number,
  position: number,
  length: number,
  { signal, countUsage }: Pick<ToolContext, 'signal' | 'countUsage'>,
): AsyncGenerator<Buffer> {
  const memory = Buffer.allocUnsafeSlow(Math.min(pieceBytes, length));
  for (let at = 0; at < length;) {
    const { bytesRead } = await readAsync(fd, memory, 0, Math.min(memory.length, length - at), position + at);
    if (bytesRead === 0) return;
    checkSignal(signal);
    countUsage({ bytesRead });
    yield memory.subarray(0, bytesRead);
    at += bytesRead;
  }
}

/** Appends to what was written before, feeding `hash` on the way. */
export async function writeBytes(fd: number, bytes: Buffer, hash: Hash, signal: AbortSignal): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    const chunk = bytes.subarray(at, at + chunkBytes);
    const count =
      bytes.length <= maxSyncBytes ? writeSync(fd, chunk) : (await writeAsync(fd, chunk, 0, chunk.length)).bytesWritten;
    hash.update(chunk.subarray(0, count));
    at += count;
    checkSignal(signal);
  }
}

/** Copies the first `size` bytes of a file behind what was written to `to` before. */
export async function copyBytes(
  from: number,
  to: number,
  size: number,
  hash: Hash,
  signal: AbortSignal,
): Promise<void> {
  for (let position = 0; position < size;) {
    const chunk = await readBytes(from, position, Math.min(size - position, chunkBytes), signal);
    if (chunk.length === 0) return;
    await writeBytes(to, chunk, hash, signal);
    position += chunk.length;
  }
}

const syncAsync = promisify(fsync);

/** Makes files durable, at the same time. Returns when none of the descriptors is in use any more. */
export async function syncFiles(...descriptors: readonly number[]): Promise<void> {
  await settleAll(...descriptors.map((fd) => syncAsync(fd)));
}

/** Waits for all of them, whatever becomes of each, and throws what the first that failed has thrown. */
export async function settleAll(...work: readonly Promise<unknown>[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) if (result.status === 'rejected') throw result.reason;
}

/** Makes new, renamed and removed entries of a folder durable. */
export async function syncFolder(folder: OpenFolder): Promise<void> {
  const fd = openSync(folder.path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await syncAsync(fd);
  } finally {
    await closeAsync(fd);
  }
}

/** Refuses a file that is, or would become, larger than the rules let this call read or write. Throws ToolRefused. */
export function checkFileSize(given: string, bytes: number, { grants }: Pick<ToolContext, 'grants'>): void {
  const { fileBytes = Infinity } = grants.limits;
  if (bytes <= fileBytes) return;
  const message = `${given} has ${spellCount(bytes, 'byte')} or would have them, and the rules allow files of ${spellCount(fileBytes, 'byte')} here.`;
  throw new ToolRefused(
    refuse('RULE_DENIES', 'max-file-size', message, {
      remedy: 'Use smaller files.',
      forOperators: 'Use smaller files, or raise max_file_size_mb for this tool.',
    }),
  );
}
