import { createHash } from 'node:crypto';
import { constants, renameSync } from 'node:fs';
import { ToolFailure } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import { checkNotRepository } from '../../paths/git-repository.ts';
import { hasCode } from '@sallyport/sandbox';
import { checkWritable, pinEntry } from '../../paths/open-to-change.ts';
import type { Target } from '../../paths/open-to-change.ts';
import { changedMeanwhile } from '../../call/check-shown.ts';
import { checkSignal } from './check-signal.ts';
import { Draft, moveToFreeName, removeIfThere } from './draft.ts';
import { copyBytes, syncFiles } from './file-bytes.ts';
import { identify } from './tree/identify-entries.ts';
import { FormerFile, openFormer } from './replace-file.ts';
import { putBack, replaceEntry, takeEntry } from './tree/take-entry.ts';
import type { Placement, TakenEntry } from './tree/take-entry.ts';
import { KeptCopy } from './tree/trash.ts';

/** Larger files are moved too, but nobody can tell later whether they were changed since. */
const maxHashedBytes = 64 * 1024 * 1024;

export interface MoveOptions {
  /** Otherwise a file that has the new name stays and this is ALREADY_EXISTS. What is replaced is kept in the trash. */
  readonly overwrite: boolean;
  /** What was found under both names, as `identify` says it: nothing else is moved or replaced. */
  readonly source: string;
  readonly replaced: string;
}

/** Moves one regular file. The folders are not synced: that is once for all files of a call. */
export async function moveFile(
  from: Target,
  to: Target,
  { overwrite, ...found }: MoveOptions,
  context: ToolContext,
): Promise<void> {
  using source = openSource(from, context);
  using former = openFormer(to);
  if (identify(source.stats) !== found.source) throw changedMeanwhile(from.named.given, context);
  if (identify(former?.stats) !== found.replaced) throw changedMeanwhile(to.named.given, context);
  if (former !== undefined && !overwrite) throw alreadyThere(to);
  const sha256 = await hashOf(source, context.signal);
  using copy = former && (await KeptCopy.of(former.fd, former.size, context));
  if (copy !== undefined) await syncFiles(copy.fd);
  checkSignal(context.signal);
  await place(from, source, to, former, context);
  const after = sha256 === undefined ? {} : { afterSha256: sha256 };
  if (copy !== undefined) context.keepBeforeImage({ path: to.realPath, kind: 'file', kept: copy.path, ...after });
  context.keepBeforeImage({ path: from.realPath, kind: 'moved', kept: to.realPath, ...after });
  copy?.keep();
}

function openSource(from: Target, context: ToolContext): FormerFile {
  using pin = pinEntry(from.folder, from.name);
  if (pin === undefined) throw changedMeanwhile(from.named.given, context);
  const stats = pin.statExactly();
  // To another file system a file is copied, and the copy would have lost the trace of its second name.
  checkWritable(stats, from.named);
  return new FormerFile(pin.reopen(constants.O_RDONLY), stats);
}

async function hashOf(source: FormerFile, signal: AbortSignal): Promise<string | undefined> {
  return source.size > maxHashedBytes ? undefined : source.sha256(signal);
}

async function place(
  from: Target,
  source: FormerFile,
  to: Target,
  former: FormerFile | undefined,
  context: ToolContext,
): Promise<void> {
  try {
    bringOver(from, source, to, former, context, ({ path }) => ({
      over: () => renameSync(path, to.entry),
      free: () => moveToFreeName(path, to.entry),
    }));
  } catch (error) {
    if (!hasCode(error, 'EXDEV')) throw error;
    await copyAcross(from, source, to, former, context);
  }
}

/** To another file system there is no rename: the file appears whole over there before it goes away here. */
async function copyAcross(
  from: Target,
  source: FormerFile,
  to: Target,
  former: FormerFile | undefined,
  context: ToolContext,
): Promise<void> {
  using draft = new Draft(to.folder, source.stats);
  await copyBytes(source.fd, draft.fd, source.size, createHash('sha256'), context.signal);
  await syncFiles(draft.fd);
  bringOver(from, source, to, former, context, () => ({
    over: () => draft.replace(to.entry),
    free: () => draft.appear(to.entry),
  }));
}

/** The file goes away here, proved to be the one that was opened, and appears there; or everything is as it was. */
function bringOver(
  from: Target,
  source: FormerFile,
  to: Target,
  former: FormerFile | undefined,
  context: ToolContext,
  placementOf: (taken: TakenEntry) => Placement,
): void {
  checkNotRepository(to.realPath, to.named, context);
  const taken = takeEntry(from, source.stats, context);
  try {
    const placement = placementOf(taken);
    if (former === undefined) placement.free();
    else replaceEntry(to, former.stats, placement, context);
  } catch (error) {
    putBack(taken, from);
    throw hasCode(error, 'EEXIST') ? alreadyThere(to) : error;
  }
  removeIfThere(taken.path);
}

function alreadyThere(target: Target): ToolFailure {
  return new ToolFailure('ALREADY_EXISTS', `${target.named.given} exists already.`);
}
