import { hasCode } from '@sallyport/sandbox';
import type { ContentRepository } from '../storage/stores.ts';
import type { ContentFile, ContentFiles } from './content-files.ts';
import { hashBlocks, openToRead } from './read-blocks.ts';

export interface ContentReport {
  readonly checked: number;
  readonly checkedBytes: number;
  /** Hashes whose bytes are damaged. */
  readonly corrupted: readonly string[];
  /** Hashes that sessions may use but that have no file. */
  readonly missing: readonly string[];
}

export interface VerifyParts {
  readonly files: ContentFiles;
  readonly index: Pick<ContentRepository, 'listContent'>;
  readonly signal: AbortSignal;
}

/** Reads everything there is. What is put or collected meanwhile is neither missing nor corrupted. */
export async function verifyContent({ files, index, signal }: VerifyParts): Promise<ContentReport> {
  let [checked, checkedBytes] = [0, 0];
  const corrupted: string[] = [];
  const seen = new Set<string>();
  const knownBefore = await index.listContent();
  for await (const file of files.list()) {
    const found = await checkFile(file, signal);
    if (found === undefined) continue;
    seen.add(file.hash);
    checked++;
    checkedBytes += found.sizeBytes;
    if (!found.isWhole) corrupted.push(file.hash);
  }
  const stillKnown = new Set((await index.listContent()).map(({ hash }) => hash));
  const missing = knownBefore.map(({ hash }) => hash).filter((hash) => !seen.has(hash) && stillKnown.has(hash));
  return { checked, checkedBytes, corrupted, missing };
}

/** Undefined when the file is gone by now. */
async function checkFile(
  { hash, path }: ContentFile,
  signal: AbortSignal,
): Promise<{ readonly sizeBytes: number; readonly isWhole: boolean } | undefined> {
  try {
    await using handle = await openToRead(path);
    const { size: sizeBytes } = await handle.stat();
    const whole = await hashBlocks(handle, sizeBytes, signal);
    return { sizeBytes, isWhole: whole?.digest() === hash };
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    // A link, or a bad sector, where content should be.
    if (hasCode(error, 'ELOOP', 'EIO')) return { sizeBytes: 0, isWhole: false };
    throw error;
  }
}
