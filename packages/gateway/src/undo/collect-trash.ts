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
 * Forgets changes that are too old to be undone, and removes files from the trash that no other change needs. The entry
 * goes before its file: a crash in between leaves a file without an entry, which the next collection finds. Files
 * without an entry are kept for the same time: a call may be about to write its entry, or an earlier version left them.
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
    // When it came into the trash: moving a file changes only this time.
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
