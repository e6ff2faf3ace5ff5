import { lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { spellCount } from '@sallyport/contract';
import { hasCode, isWithin } from '@sallyport/sandbox';
import { absent } from '../../../call/journal.ts';
import type { Change, EntryState } from '../../../call/journal.ts';
import { ToolFailure, ToolRefused } from '../../../call/tool.ts';
import type { ToolContext } from '../../../call/tool.ts';
import { openTarget, pinEntry } from '../../../paths/open-to-change.ts';
import { syncFiles } from '../../files/file-bytes.ts';
import { openFormer } from '../../files/former-file.ts';
import { fileState, readState } from '../../files/tree/entry-state.ts';
import { KeptCopy } from '../../files/tree/trash.ts';
import { NotKept } from './repository-state.ts';

const mostFiles = 2000;
const mostBytes = 256 * 1024 * 1024;
const unknown: EntryState = { kind: 'unknown' };

/** Why so many files, or such large ones, would not be kept. Undefined: they would be. Names start from `top`. */
export function explainTooMuch(top: string, names: readonly string[]): string | undefined {
  if (names.length > mostFiles)
    return `it may change ${spellCount(names.length, 'file')}, and at most ${mostFiles} are kept`;
  let bytes = 0;
  for (const name of names) bytes += lstatSync(join(top, name), { throwIfNoEntry: false })?.size ?? 0;
  return bytes > mostBytes ? 'the files that it may change are too large to be kept' : undefined;
}

/** Files that git is about to change: what was there before is in the trash and in the journal. */
export class KeptFiles {
  readonly #top: string;
  readonly #context: ToolContext;
  readonly #changes: Change[] = [];
  /** Folders around the files, which git removes when they are empty, with their modes. */
  readonly #folders = new Map<string, number>();

  constructor(top: string, context: ToolContext) {
    this.#top = top;
    this.#context = context;
  }

  /** Durable when it resolves. Names start from the top. Throws NotKept; then nothing of them is in the journal. */
  async keep(names: readonly string[]): Promise<void> {
    const reason = explainTooMuch(this.#top, names);
    if (reason !== undefined) throw new NotKept(reason);
    const made = new Map<string, Change>();
    const changes: Change[] = [];
    for (const name of names) {
      const path = join(this.#top, name);
      for (const folder of this.#foldersOf(path)) {
        const stats = lstatSync(folder, { throwIfNoEntry: false });
        if (stats?.isDirectory() === true) this.#folders.set(folder, stats.mode & 0o7777);
        else if (stats === undefined)
          made.set(folder, { path: folder, before: absent, after: { kind: 'folder', mode: 0o777 } });
      }
      changes.push(await this.#keepFile(path));
    }
    const outermostFirst = [...made.values()].toSorted((a, b) => a.path.length - b.path.length);
    this.#changes.push(...outermostFirst, ...changes);
    if (this.#changes.length > 0) await this.#context.journal(...outermostFirst, ...changes);
  }

  /** Writes down what git made of them. What cannot be told stays unknown, and is not undone. */
  async finish(): Promise<void> {
    const { completeChange, noteChange, journal } = this.#context;
    for (const change of this.#changes) {
      if (change.after.kind === 'folder') {
        if (isFolder(change.path)) noteChange(change);
        continue;
      }
      const after = await this.#look(change);
      if (after.kind === 'unknown') continue;
      await completeChange(change.path, after);
      if (JSON.stringify(after) !== JSON.stringify(change.before)) noteChange({ ...change, after });
    }
    const gone = [...this.#folders].filter(([path]) => !isFolder(path)).toSorted(([a], [b]) => b.length - a.length);
    const removed = gone.map(([path, mode]): Change => ({ path, before: { kind: 'folder', mode }, after: absent }));
    if (removed.length > 0) await journal(...removed);
    for (const change of removed) noteChange(change);
  }

  async #keepFile(path: string): Promise<Change> {
    try {
      using target = openTarget({ given: path, path }, this.#context);
      using pin = pinEntry(target.folder, target.name);
      if (pin === undefined) return { path, before: absent, after: unknown };
      if (!pin.stat().isFile()) {
        const before = await readState(target.folder, target.name, this.#context);
        // A folder here is another repository, which git leaves alone, or gives way to files that are kept by themselves.
        return {
          path,
          before: before.kind === 'tree' ? { kind: 'folder', mode: pin.stat().mode & 0o7777 } : before,
          after: unknown,
        };
      }
      using former = openFormer(target);
      if (former === undefined) return { path, before: absent, after: unknown };
      using copy = await KeptCopy.of(former.fd, former.size, this.#context);
      await syncFiles(copy.fd);
      copy.keep();
      return { path, before: fileState(former.stats, copy.sha256), after: unknown, kept: copy.name };
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return { path, before: absent, after: unknown };
      // A part of the path is a file, which git replaces by a folder.
      if (error instanceof ToolFailure && error.code === 'NOT_A_FOLDER')
        return { path, before: absent, after: unknown };
      if (error instanceof ToolRefused || error instanceof ToolFailure || hasCode(error, 'EACCES', 'EROFS'))
        throw new NotKept('a file that it may change cannot be kept');
      throw error;
    }
  }

  async #look({ path, before }: Change): Promise<EntryState> {
    try {
      using target = openTarget({ given: path, path }, this.#context);
      const after = await readState(target.folder, target.name, this.#context);
      if (before.kind === 'folder') return after.kind === 'folder' || after.kind === 'tree' ? before : unknown;
      // Undo exchanges files for files, and puts things where nothing is.
      const isLike = before.kind === after.kind || before.kind === 'absent' || after.kind === 'absent';
      return isLike ? after : unknown;
    } catch (error) {
      return hasCode(error, 'ENOENT') ? absent : unknown;
    }
  }

  #foldersOf(path: string): readonly string[] {
    const folders: string[] = [];
    for (let folder = dirname(path); folder !== this.#top && isWithin(this.#top, folder); folder = dirname(folder))
      folders.push(folder);
    return folders;
  }
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
