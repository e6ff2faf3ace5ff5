import { createHash } from 'node:crypto';
import { constants, renameSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { ToolFailure } from '../../model/tool.ts';
import type { ToolContext } from '../../model/tool.ts';
import { hasCode } from '../../sandbox/has-code.ts';
import { checkWritable, pinEntry } from '../../sandbox/open-to-change.ts';
import type { Target } from '../../sandbox/open-to-change.ts';
import { checkSignal } from './check-signal.ts';
import { Draft, moveToFreeName, removeIfThere } from './draft.ts';
import { copyBytes, readBytes, syncFiles } from './file-bytes.ts';
import { FormerFile, isUnchanged, openFormer } from './replace-file.ts';
import { KeptCopy } from './trash.ts';

/** Larger files are moved too, but an undo cannot tell whether they were changed since. */
const maxHashedBytes = 64 * 1024 * 1024;

/**
 * Moves one regular file. Without `overwrite` a file that has the new name stays and this is ALREADY_EXISTS; with it
 * that file is kept in the trash. The folders are not synced: that is once for all files of a call.
 */
export async function moveFile(
  from: Target,
  to: Target,
  { overwrite }: { readonly overwrite: boolean },
  context: ToolContext,
): Promise<void> {
  using source = openSource(from);
  using former = openFormer(to);
  if (former !== undefined && !overwrite) throw alreadyThere(to);
  const sha256 = await hashOf(source, context.signal);
  using copy = former && (await KeptCopy.of(former.fd, former.size, context));
  if (copy !== undefined) await syncFiles(copy.fd);
  checkSignal(context.signal);
  checkUnchanged(from, source);
  if (former !== undefined) checkUnchanged(to, former);
  const after = sha256 === undefined ? {} : { afterSha256: sha256 };
  if (copy !== undefined) context.keepBeforeImage({ path: to.realPath, kind: 'file', kept: copy.path, ...after });
  context.keepBeforeImage({ path: from.realPath, kind: 'moved', kept: to.realPath, ...after });
  copy?.keep();
  await rename(from, source, to, former, context);
}

function openSource(from: Target): FormerFile {
  using pin = pinEntry(from.folder, from.name);
  if (pin === undefined) throw changed(from);
  const stats = pin.statExactly();
  // To another file system a file is copied, and the copy would have lost the trace of its second name.
  checkWritable(stats, from.named);
  return new FormerFile(pin.reopen(constants.O_RDONLY), stats);
}

async function hashOf(source: FormerFile, signal: AbortSignal): Promise<string | undefined> {
  if (source.size > maxHashedBytes) return undefined;
  const hash = createHash('sha256');
  const chunkBytes = 1024 * 1024;
  for (let at = 0; at < source.size; at += chunkBytes) {
    hash.update(await readBytes(source.fd, at, Math.min(chunkBytes, source.size - at), signal));
  }
  return hash.digest('hex');
}

async function rename(
  from: Target,
  source: FormerFile,
  to: Target,
  former: FormerFile | undefined,
  context: ToolContext,
): Promise<void> {
  try {
    if (former === undefined) moveToFreeName(from.entry, to.entry);
    else renameSync(from.entry, to.entry);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) throw alreadyThere(to);
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
  checkUnchanged(from, source);
  if (former === undefined) draft.appear(to.entry);
  else {
    checkUnchanged(to, former);
    draft.replace(to.entry);
  }
  removeIfThere(from.entry);
}

function checkUnchanged(target: Target, file: { readonly stats: BigIntStats }): void {
  if (!isUnchanged(target.entry, file.stats)) throw changed(target);
}

function changed(target: Target): ToolFailure {
  return new ToolFailure('FILE_CHANGED', `${target.named.given} was changed by something else meanwhile.`);
}

function alreadyThere(target: Target): ToolFailure {
  return new ToolFailure('ALREADY_EXISTS', `${target.named.given} exists already.`);
}
