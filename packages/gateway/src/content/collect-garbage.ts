import { lstat, rm } from 'node:fs/promises';
import type { Stats } from 'node:fs';
import { hasCode } from '@sallyport/sandbox';
import type { ContentRepository } from '../storage/stores.ts';
import type { ContentFiles } from './content-files.ts';

export interface GarbageReport {
  readonly removed: number;
  readonly freedBytes: number;
  readonly kept: number;
}

export interface GarbageParts {
  readonly files: ContentFiles;
  readonly index: Pick<ContentRepository, 'listContent' | 'forgetContent'>;
  /** Runs the work while nobody puts or publishes content of this hash. */
  readonly whileHeld: <T>(hash: string, work: () => Promise<T>) => Promise<T>;
  readonly signal: AbortSignal;
}

/**
 * Removes content that nothing references and that was last put or read before `usedBeforeMs`. Its entry in the index
 * goes first: a crash in between leaves a file without an entry, which the next collection finds.
 */
export async function collectGarbage(parts: GarbageParts, usedBeforeMs: number): Promise<GarbageReport> {
  const { files, index, whileHeld, signal } = parts;
  let [removed, freedBytes, kept] = [0, 0, 0];
  const candidates = new Map((await index.listContent()).map((content) => [content.hash, content]));

  const collect = (hash: string) =>
    whileHeld(hash, async () => {
      const path = files.pathOf(hash);
      const found = await statIfPresent(path);
      // A put meanwhile has left a new file here.
      if (found !== undefined && found.mtimeMs > usedBeforeMs) return undefined;
      if (!(await index.forgetContent(hash))) return undefined;
      await rm(path, { force: true });
      return found?.size ?? 0;
    });

  const consider = async (hash: string): Promise<void> => {
    signal.throwIfAborted();
    const known = candidates.get(hash);
    candidates.delete(hash);
    const isInUse = known !== undefined && (known.referenced || known.lastUsedMs > usedBeforeMs);
    const bytes = isInUse ? undefined : await collect(hash);
    if (bytes === undefined) {
      kept++;
    } else {
      removed++;
      freedBytes += bytes;
    }
  };

  for await (const { hash } of files.list()) await consider(hash);
  // Entries without a file: there is nothing to free, but the entry can go.
  for (const hash of candidates.keys()) await consider(hash);
  return { removed, freedBytes, kept };
}

async function statIfPresent(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
