import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { hasCode } from '@sallyport/sandbox';
import { changedMeanwhile } from '../../call/check-shown.ts';
import type { EntryState } from '../../call/journal.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import { Draft, hiddenName, moveToFreeName, setTimes } from '../../catalogue/files/draft.ts';
import { copyBytes, syncFiles, syncFolder } from '../../catalogue/files/file-bytes.ts';
import { openFormer } from '../../catalogue/files/former-file.ts';
import { isSameState, readState } from '../../catalogue/files/tree/entry-state.ts';
import { copyTree, removeTree } from '../../catalogue/files/tree/copy-tree.ts';
import { replaceEntry, takeEntry } from '../../catalogue/files/tree/take-entry.ts';
import type { TrashName } from '../../catalogue/files/tree/trash.ts';
import { takeTurn } from '../../catalogue/files/replace-file.ts';
import { restoreRepository } from '../../catalogue/git/undo/restore-repository.ts';
import { checkNotRepository } from '../../paths/git-repository.ts';
import { openTarget, pinEntry } from '../../paths/open-to-change.ts';
import type { Target } from '../../paths/open-to-change.ts';
import { openPlace } from './foreseen-files.ts';
import type { Place } from './foreseen-files.ts';
import type { Step } from './plan-undo.ts';

type FileState = Extract<EntryState, { kind: 'file' }>;

/**
 * Carries out one step. Its change is in the journal, and what it replaces is kept. The path is always in one of the
 * two states, also after a crash; the new state is durable. `place` is the name in the trash for what is taken away.
 */
export async function carryOut(step: Step, place: TrashName, context: ToolContext): Promise<void> {
  if (step.repository !== undefined) {
    const { git, names, packs } = step.repository;
    return await takeTurn(step.path, context.signal, () => restoreRepository(git, names, packs, context));
  }
  await takeTurn(step.path, context.signal, async () => {
    using target = openTarget({ given: step.path, path: step.path }, context);
    const now = await readState(target.folder, target.name, context);
    if (!isSameState(now, step.from)) throw changedMeanwhile(step.path, context);
    await change(step, target, place, context);
    await syncFolder(target.folder);
  });
}

async function change(
  { from, to, source }: Step,
  target: Target,
  place: TrashName,
  context: ToolContext,
): Promise<void> {
  checkNotRepository(target.realPath, target.named, context);
  switch (to.kind) {
    case 'absent':
      return from.kind === 'folder' ? rmdirSync(target.entry) : await takeAway(target, place, context);
    case 'folder':
      mkdirSync(target.entry, { mode: 0o700 });
      return chmodSync(target.entry, to.mode);
    case 'link':
      return symlinkSync(to.target, target.entry);
    case 'tree':
      return await bringTree(target, to, needed(source), context);
    case 'file':
      return from.kind === 'file'
        ? await putFile(target, to, needed(source), context)
        : await bringFile(target, to, needed(source), context);
    case 'repository':
    case 'unknown':
      throw new Error('nothing is put back into a state that nobody knows');
  }
}

function needed(source: Step['source']): Place {
  if (source === undefined) throw new Error('a step has no source of its bytes');
  return source.inTurn;
}

async function takeAway(target: Target, place: TrashName, context: ToolContext): Promise<void> {
  const taken = takeEntry(target, statOf(target, context), context, place);
  if (taken.hiddenName === undefined) return;
  // The trash is on another file system.
  await copyTree(target.folder, taken.hiddenName, taken.trashPath, context.signal);
  await removeTree(target.folder, taken.hiddenName, new AbortController().signal);
}

function statOf(target: Target, context: ToolContext): BigIntStats {
  using pin = pinEntry(target.folder, target.name);
  if (pin === undefined) throw changedMeanwhile(target.named.given, context);
  return pin.statExactly();
}

/** Puts a file in place of another one, or where there is none. */
async function putFile(target: Target, to: FileState, source: Place, context: ToolContext): Promise<void> {
  using former = openFormer(target);
  using draft = new Draft(target.folder, former?.stats);
  await fill(draft.fd, to, source, context);
  if (former === undefined) return draft.appear(target.entry);
  const placement = { over: () => draft.replace(target.entry), free: () => draft.appear(target.entry) };
  replaceEntry(target, former.stats, placement, context);
}

async function fill(fd: number, to: FileState, source: Place, context: ToolContext): Promise<void> {
  using kept = openPlace(source, context);
  using pin = pinEntry(kept.folder, kept.name);
  if (pin === undefined) throw gone();
  const from = pin.reopen(constants.O_RDONLY);
  try {
    const hash = createHash('sha256');
    await copyBytes(from, fd, to.sizeBytes, hash, context.signal);
    if (to.sha256 !== undefined && hash.digest('hex') !== to.sha256) throw damaged();
  } finally {
    closeSync(from);
  }
  fchmodSync(fd, to.mode);
  setTimes(fd, to);
  await syncFiles(fd);
}

/** Moves the file itself back from the trash, and copies it only if it must. */
async function bringFile(target: Target, to: FileState, source: Place, context: ToolContext): Promise<void> {
  if (source.isTaken !== true || source.in !== 'trash') return await putFile(target, to, source, context);
  // What could not be read could not be hashed either.
  if (to.sha256 === undefined) return await bringUnread(target, to, source, context);
  const fd = openSync(source.path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    if ((await hashOf(fd, to.sizeBytes, context.signal)) !== to.sha256) throw damaged();
    fchmodSync(fd, to.mode);
    const { mtimeNs } = lstatSync(source.path, { bigint: true });
    // It would lose what is finer than a microsecond.
    if (Number(mtimeNs / 1000n) !== to.mtimeUs) setTimes(fd, to);
    moveToFreeName(source.path, target.entry);
  } catch (error) {
    if (!hasCode(error, 'EXDEV')) throw error;
    await putFile(target, to, source, context);
  } finally {
    closeSync(fd);
  }
}

async function bringUnread(target: Target, to: FileState, source: Place, context: ToolContext): Promise<void> {
  try {
    moveToFreeName(source.path, target.entry);
  } catch (error) {
    if (!hasCode(error, 'EXDEV')) throw error;
    await putFile(target, to, source, context);
  }
}

async function hashOf(fd: number, size: number, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  const sink = openSync('/dev/null', 'w');
  try {
    await copyBytes(fd, sink, size, hash, signal);
  } finally {
    closeSync(sink);
  }
  return hash.digest('hex');
}

async function bringTree(target: Target, to: EntryState, source: Place, context: ToolContext): Promise<void> {
  using trash = openPlace(source, context);
  if (!isSameState(await readState(trash.folder, trash.name, context), to)) throw damaged();
  if (lstatSync(target.entry, { throwIfNoEntry: false }) !== undefined)
    throw changedMeanwhile(target.named.given, context);
  try {
    return renameSync(source.path, target.entry);
  } catch (error) {
    if (!hasCode(error, 'EXDEV')) throw error;
  }
  const hidden = target.folder.entry(hiddenName());
  try {
    await copyTree(trash.folder, trash.name, hidden, context.signal);
    renameSync(hidden, target.entry);
  } catch (error) {
    rmSync(hidden, { recursive: true, force: true });
    throw error;
  }
}

function gone(): ToolFailure {
  return new ToolFailure('NOT_FOUND', 'The earlier content is no longer kept.');
}

function damaged(): ToolFailure {
  return new ToolFailure(
    'CONTENT_CORRUPTED',
    'The earlier content that was kept has been changed, so it is not put back.',
  );
}
