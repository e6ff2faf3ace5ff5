import { randomBytes } from 'node:crypto';
import { lstatSync, renameSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import type { ToolContext } from '../../../call/tool.ts';
import { hasCode } from '@sallyport/sandbox';
import type { Target } from '../../../paths/open-to-change.ts';
import { changedMeanwhile } from '../../../call/check-shown.ts';
import { hiddenName, moveToFreeName, removeIfThere } from '../draft.ts';
import { identify, isSameEntry } from './identify-entries.ts';
import { nameInTrash } from './trash.ts';

/** An entry that was taken out of its folder. */
export interface TakenEntry {
  /** For calls of `node:fs`: where it is now. */
  readonly path: string;
  /** Its name in the trash. */
  readonly trashName: string;
  /** Where it belongs in the trash. Not `path` where the trash is on another file system. */
  readonly trashPath: string;
  /** Absent: it is in the trash. */
  readonly hiddenName?: string;
}

/**
 * Takes an entry out of its folder, and makes sure that it is the one that was opened. A look at the name beforehand is
 * not enough: between any look and the rename, another program can give the name to another file. What the rename has
 * really taken can be looked at for as long as it needs; if it is another one, it goes back and this throws.
 */
export function takeEntry(
  target: Target,
  expected: BigIntStats,
  context: ToolContext,
  { name: trashName, path: trashPath } = nameInTrash(context),
): TakenEntry {
  const taken = { trashName, trashPath, ...rename(target, trashPath, context) };
  if (isSameEntry(lstat(taken.path), expected)) return taken;
  throw changedMeanwhile(target.named.given, context, putBack(taken, target));
}

function rename(target: Target, trashPath: string, context: ToolContext): Pick<TakenEntry, 'path' | 'hiddenName'> {
  try {
    renameSync(target.entry, trashPath);
    return { path: trashPath };
  } catch (error) {
    if (hasCode(error, 'ENOENT')) throw changedMeanwhile(target.named.given, context);
    if (!hasCode(error, 'EXDEV')) throw error;
  }
  const hidden = hiddenName();
  const path = target.folder.entry(hidden);
  renameSync(target.entry, path);
  return { path, hiddenName: hidden };
}

/**
 * Puts an entry back under its name. Where another program has used the name meanwhile, both stay: the entry gets a name
 * beside it. Returns a sentence about that, or nothing.
 */
export function putBack({ path }: TakenEntry, target: Target): string {
  const isFolder = lstat(path)?.isDirectory() === true;
  const names = [target.name, `${target.name}.restored-${randomBytes(4).toString('hex')}`];
  for (const name of names) {
    try {
      const entry = target.folder.entry(name);
      if (!isFolder) moveToFreeName(path, entry);
      else if (lstat(entry) === undefined) renameSync(path, entry);
      else continue;
      return name === target.name ? '' : ` What had this name for a moment is now called ${name}.`;
    } catch (error) {
      if (!hasCode(error, 'EEXIST', 'ENOTEMPTY', 'ENOTDIR', 'EISDIR')) throw error;
    }
  }
  throw new Error(`an entry could not be put back and is in ${path}`);
}

/** How a new file comes under a name. */
export interface Placement {
  /** In the place of whatever has the name. */
  readonly over: () => void;
  /** Where the name is free; EEXIST otherwise. */
  readonly free: () => void;
}

/**
 * Replaces a file; at every moment the name leads to the old one or the new one. After a consent
 * it must be the file that was shown, so that one is taken away first: for an instant the name is free, as in a checkout
 * of git, and a crash in that instant leaves the file in the trash.
 */
export function replaceEntry(target: Target, former: BigIntStats, placement: Placement, context: ToolContext): void {
  if (context.shownBasis === undefined) {
    if (identify(lstat(target.entry)) !== identify(former)) throw changedMeanwhile(target.named.given, context);
    return placement.over();
  }
  const taken = takeEntry(target, former, context);
  try {
    placement.free();
  } catch (error) {
    const more = putBack(taken, target);
    throw hasCode(error, 'EEXIST') ? changedMeanwhile(target.named.given, context, more) : error;
  }
  removeIfThere(taken.path);
}

function lstat(path: string): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false });
}
