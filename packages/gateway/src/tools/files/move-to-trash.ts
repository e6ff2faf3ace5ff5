import { lstatSync, renameSync, rmSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { ToolFailure } from '../../model/tool.ts';
import type { ToolContext } from '../../model/tool.ts';
import { hasCode } from '../../sandbox/has-code.ts';
import type { Target } from '../../sandbox/open-to-change.ts';
import { copyTree, removeTree } from './copy-tree.ts';
import { hiddenName, moveToFreeName } from './draft.ts';
import { syncFolder } from './file-bytes.ts';
import { nameInTrash } from './trash.ts';

/** Moves an entry to the trash, durably, and returns its name there. On failure it is where it was. */
export async function moveToTrash(target: Target, stats: BigIntStats, context: ToolContext): Promise<string> {
  const { name, path } = nameInTrash(context);
  const now = lstatSync(target.entry, { bigint: true, throwIfNoEntry: false });
  if (now?.ino !== stats.ino || now.dev !== stats.dev) {
    throw new ToolFailure('FILE_CHANGED', `${target.named.given} was changed by something else meanwhile.`);
  }
  context.keepBeforeImage({ path: target.realPath, kind: 'moved', kept: path });
  try {
    renameSync(target.entry, path);
  } catch (error) {
    if (!hasCode(error, 'EXDEV')) throw error;
    await moveAcross(target, path, context.signal);
  }
  await syncFolder(target.folder);
  return name;
}

/**
 * To a trash on another file system. The entry first gets a hidden name, so that it is gone in one instant and nothing
 * is added to it while it is copied; a crash leaves it under that name.
 */
async function moveAcross(target: Target, path: string, signal: AbortSignal): Promise<void> {
  const { folder, name } = target;
  const hidden = hiddenName();
  renameSync(folder.entry(name), folder.entry(hidden));
  try {
    await copyTree(folder, hidden, path, signal);
  } catch (error) {
    rmSync(path, { recursive: true, force: true });
    if (lstatSync(folder.entry(hidden)).isDirectory()) renameSync(folder.entry(hidden), folder.entry(name));
    else moveToFreeName(folder.entry(hidden), folder.entry(name));
    throw error;
  }
  // The copy is complete: from here there is no way back, so a cancelled call goes through with it.
  await removeTree(folder, hidden, new AbortController().signal);
}
