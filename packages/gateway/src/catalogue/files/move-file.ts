import { createHash } from 'node:crypto';
import { constants, renameSync } from 'node:fs';
import { absent } from '../../call/journal.ts';
import type { Change } from '../../call/journal.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import { checkNotRepository } from '../../paths/git-repository.ts';
import { hasCode } from '@sallyport/sandbox';
import { checkWritable, pinEntry } from '../../paths/open-to-change.ts';
import type { Target } from '../../paths/open-to-change.ts';
import { changedMeanwhile } from '../../call/check-shown.ts';
import { checkSignal } from './check-signal.ts';
import { Draft, moveToFreeName, removeIfThere, setTimes } from './draft.ts';
import { copyBytes, syncFiles } from './file-bytes.ts';
import { identify } from './tree/identify-entries.ts';
import { FormerFile, openFormer } from './former-file.ts';
import { fileState, hashOf } from './tree/entry-state.ts';
import { putBack, replaceEntry, takeEntry } from './tree/take-entry.ts';
import type { Placement, TakenEntry } from './tree/take-entry.ts';
import { KeptCopy } from './tree/trash.ts';

export interface MoveOptions {
  /** Otherwise a file that has the new name stays and this is ALREADY_EXISTS. What is replaced is kept in the trash. */
  readonly overwrite: boolean;
  /** What was found under both names, as `identify` says it: nothing else is moved or replaced. */
  readonly source: string;
  readonly replaced: string;
}

/** The move of one regular file. Nothing has changed yet, and what it would replace is durable in the trash. */
export class PreparedMove implements Disposable {
  readonly #from: Target;
  readonly #to: Target;
  readonly #source: FormerFile;
  readonly #former: FormerFile | undefined;
  readonly #copy: KeptCopy | undefined;
  /** What it would do, in the order in which it is written down. */
  readonly changes: readonly Change[];

  private constructor(from: Target, to: Target, files: MovedFiles) {
    const { source, former, copy, sha256 } = files;
    this.#from = from;
    this.#to = to;
    this.#source = source;
    this.#former = former;
    this.#copy = copy;
    const moved = fileState(source.stats, sha256);
    const replaced = former === undefined ? absent : fileState(former.stats, copy?.sha256);
    this.changes = [
      { path: to.realPath, before: replaced, after: moved, ...(copy === undefined ? {} : { kept: copy.name }) },
      { path: from.realPath, before: moved, after: absent, movedTo: to.realPath },
    ];
  }

  static async of(
    from: Target,
    to: Target,
    { overwrite, ...found }: MoveOptions,
    context: ToolContext,
  ): Promise<PreparedMove> {
    using opened = new DisposableStack();
    const source = opened.use(openSource(from, context));
    const former = opened.use(openFormer(to));
    if (identify(source.stats) !== found.source) throw changedMeanwhile(from.named.given, context);
    if (identify(former?.stats) !== found.replaced) throw changedMeanwhile(to.named.given, context);
    if (former !== undefined && !overwrite) throw alreadyThere(to);
    const sha256 = await hashOf(source, context.signal);
    const copy = opened.use(former && (await KeptCopy.of(former.fd, former.size, context)));
    if (copy !== undefined) await syncFiles(copy.fd);
    const prepared = new PreparedMove(from, to, { source, former, copy, sha256 });
    opened.move();
    return prepared;
  }

  /** To be called when the changes are in the journal. The folders are not synced: that is once for all files of a call. */
  async carryOut(context: ToolContext): Promise<void> {
    checkSignal(context.signal);
    await place(this.#from, this.#source, this.#to, this.#former, context);
    for (const change of this.changes) context.noteChange(change);
    this.#copy?.keep();
  }

  [Symbol.dispose](): void {
    for (const opened of [this.#copy, this.#former, this.#source]) opened?.[Symbol.dispose]();
  }
}

interface MovedFiles {
  readonly source: FormerFile;
  /** What has the new name. Absent: nothing. */
  readonly former: FormerFile | undefined;
  readonly copy: KeptCopy | undefined;
  readonly sha256: string | undefined;
}

function openSource(from: Target, context: ToolContext): FormerFile {
  using pin = pinEntry(from.folder, from.name);
  if (pin === undefined) throw changedMeanwhile(from.named.given, context);
  const stats = pin.statExactly();
  // To another file system a file is copied, and the copy would have lost the trace of its second name.
  checkWritable(stats, from.named);
  return new FormerFile(pin.reopen(constants.O_RDONLY), stats);
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
  const { atimeNs, mtimeNs } = source.stats;
  setTimes(draft.fd, { atimeUs: Number(atimeNs / 1000n), mtimeUs: Number(mtimeNs / 1000n) });
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
