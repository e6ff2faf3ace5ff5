import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '@sallyport/sandbox';
import type { JournalRepository } from '../storage/stores.ts';

export interface TrashParts {
  readonly journal: Pick<JournalRepository, 'dropJournal' | 'listKept'>;
  readonly trashFolder: string;
  /** How long a change can be undone. */
  readonly keepMs: number;
}

/**
 * Forgets changes that are older than they are kept, and removes what is in the trash for none of the others. What it is
 * known by goes first: a crash in between leaves a file that nobody knows, which the next collection finds. What nobody
 * knows is kept as long: it may be of a call that is about to write it down, or of an earlier version.
 */
export async function collectTrash({ journal, trashFolder, keepMs }: TrashParts, nowMs: number): Promise<number> {
  const beforeMs = nowMs - keepMs;
  await journal.dropJournal(beforeMs);
  const kept = await journal.listKept();
  let removed = 0;
  for (const name of await listTrash(trashFolder)) {
    if (kept.has(name)) continue;
    const path = join(trashFolder, name);
    const stats = await lstat(path).catch(ignoreMissing);
    // When it came here: moving a file changes this time and no other.
    if (stats === undefined || stats.ctimeMs >= beforeMs) continue;
    await rm(path, { recursive: true, force: true });
    removed++;
  }
  return removed;
}

async function listTrash(folder: string): Promise<readonly string[]> {
  return (await readdir(folder).catch(ignoreMissing)) ?? [];
}

function ignoreMissing(error: unknown): undefined {
  if (!hasCode(error, 'ENOENT')) throw error;
}
