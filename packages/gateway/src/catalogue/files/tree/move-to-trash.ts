import { rmSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { absent } from '../../../call/journal.ts';
import type { Change, EntryState } from '../../../call/journal.ts';
import type { ToolContext } from '../../../call/tool.ts';
import type { Target } from '../../../paths/open-to-change.ts';
import { copyTree, removeTree } from './copy-tree.ts';
import { checkSignal } from '../check-signal.ts';
import { syncFolder } from '../file-bytes.ts';
import { putBack, takeEntry } from './take-entry.ts';
import type { TakenEntry } from './take-entry.ts';
import { nameInTrash } from './trash.ts';

/** Looks at what was taken, where nobody can exchange it. Throws when it must go back. */
export type Inspect = (taken: TakenEntry) => Promise<void>;

/** Moves an entry to the trash, durably, and returns its name there. On failure it is where it was. `before` is what it is. */
export async function moveToTrash(
  target: Target,
  stats: BigIntStats,
  inspect: Inspect,
  before: EntryState,
  context: ToolContext,
): Promise<string> {
  const place = nameInTrash(context);
  const change: Change = { path: target.realPath, before, after: absent, kept: place.name };
  await context.journal(change);
  checkSignal(context.signal);
  const taken = takeEntry(target, stats, context, place);
  try {
    await inspect(taken);
    if (taken.hiddenName !== undefined) await copyAcross(target, taken.hiddenName, taken.trashPath, context.signal);
  } catch (error) {
    putBack(taken, target);
    throw error;
  }
  context.noteChange(change);
  // In the trash, or complete there: from here there is no way back, so a cancelled call goes through with it.
  if (taken.hiddenName !== undefined) {
    await removeTree(target.folder, taken.hiddenName, new AbortController().signal);
  }
  await syncFolder(target.folder);
  return taken.trashName;
}

/** To a trash on another file system. Until the copy is complete the entry has a hidden name, also after a crash. */
async function copyAcross({ folder }: Target, hidden: string, path: string, signal: AbortSignal): Promise<void> {
  try {
    await copyTree(folder, hidden, path, signal);
  } catch (error) {
    rmSync(path, { recursive: true, force: true });
    throw error;
  }
}
