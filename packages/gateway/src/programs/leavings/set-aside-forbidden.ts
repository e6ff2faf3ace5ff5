import { randomBytes } from 'node:crypto';
import { chmodSync, readlinkSync, realpathSync, renameSync, statSync } from 'node:fs';
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { attempt } from '@sallyport/contract';
import { foldPath, maxPathLength } from '../../policy/patterns/canonical-path.ts';
import { isWithin, hasCode } from '@sallyport/sandbox';
import type { SweepEntry } from '../../call/sweep.ts';
import { isRepository } from '../../paths/git-repository.ts';
import { OpenFolder, pinPath } from '../../paths/open-path.ts';
import { Vanished } from '../../paths/pin.ts';
import { identify, lookAt, takeBreaths } from './find-forbidden.ts';
import type { OpenState } from './find-forbidden.ts';
import { isAsMade } from './made-file.ts';

/** What is looked through, and how it was before. */
export interface SweepScope {
  readonly roots: readonly string[];
  readonly links: Readonly<Record<string, string>>;
  /** The folders that were there, which are brought up to date. Absent: nobody knows, so that everything is looked at. */
  readonly open?: Map<string, OpenState>;
  /** What came into being later was not made by the programs. Absent: everything may have been. */
  readonly endedByMs?: number;
}

export interface SweepOptions {
  readonly isForbidden: (path: string, root: string) => boolean;
  readonly entry: Pick<SweepEntry, 'knows' | 'vouched' | 'tellMoved'>;
  /** Part of the new names. */
  readonly mark: string;
}

/** What became of what programs left under names that the rules do not let them create. */
export interface Withheld {
  /** The new names; at most 100. */
  readonly paths: readonly string[];
  readonly count: number;
  /** What stayed where it is, because it could not be renamed; at most 100. */
  readonly stuck: readonly string[];
}

const mostTold = 100;
/** File systems count time in steps. */
const timeStepMs = 2000;
const longestName = 255;
/** Everything in a folder with a path no longer than this can be named. */
const longestFolder = maxPathLength - longestName - 2;

/**
 * Renames what appeared under names that the programs of a call may not leave behind, such as the configuration of an
 * agent client: no sandbox can forbid a name in a folder that may be changed. All of it is looked at, outer folders
 * first, however much it is. A folder that was there before goes back to where it was, if that place is free. What the
 * gate itself made stays as long as it is what the gate made.
 *
 * Can be called again, also while the programs run. `sinceMs`: when the folders were looked at.
 */
export async function setAsideForbidden(scope: SweepScope, sinceMs: number, options: SweepOptions): Promise<Withheld> {
  const sweep = new Sweep(scope, options);
  await sweep.run(sinceMs);
  return sweep;
}

interface Waiting {
  readonly folder: string;
  readonly root: string;
}

class Sweep implements Withheld {
  readonly paths: string[] = [];
  readonly stuck: string[] = [];
  count = 0;
  readonly #scope: SweepScope;
  readonly #options: SweepOptions;
  readonly #breathe = takeBreaths();
  readonly #homes: ReadonlyMap<string, string>;
  readonly #waiting: Waiting[] = [];

  constructor(scope: SweepScope, options: SweepOptions) {
    this.#scope = scope;
    this.#options = options;
    this.#homes = new Map([...(scope.open ?? [])].map(([path, { identity }]) => [identity, path]));
  }

  async run(sinceMs: number): Promise<void> {
    const { roots, open } = this.#scope;
    if (open === undefined) this.#waiting.push(...roots.map((root) => ({ folder: root, root })));
    else this.#waiting.push(...listChanged(open, sinceMs));
    // What is added meanwhile comes last, so that outer folders come first.
    for (const next of this.#waiting) await this.#lookThrough(next);
    for (const path of Object.keys(this.#scope.links)) {
      const target = followLink(path);
      if (target !== undefined && !this.#options.entry.knows(target)) await this.#judgeAlone(target);
    }
    // Writing to a file does not change the folder around it.
    for (const [path, { kind }] of [...this.#options.entry.vouched]) if (kind === 'file') await this.#judgeAlone(path);
  }

  /**
   * What may have changed without its folder: something that the gate made, or that a link of the person leads to. Where
   * such a link leads is closed to programs, so this is about links that led nowhere, or elsewhere.
   */
  async #judgeAlone(path: string): Promise<void> {
    const { roots, endedByMs } = this.#scope;
    const root = roots.findLast((folder) => folder !== path && isWithin(folder, path));
    if (root === undefined) return;
    const folder = dirname(path);
    const name = Buffer.from(basename(path));
    using pinned = pinFolder(folder);
    if (pinned === undefined) return;
    if (endedByMs !== undefined && isBornAfter(pinned, name, endedByMs)) return;
    await this.#setAside(pinned, name, { folder, root });
  }

  async #lookThrough({ folder, root }: Waiting): Promise<void> {
    using pinned = pinFolder(folder);
    if (pinned === undefined) return;
    const before = statSync(pinned.path);
    const entries = await listEntries(pinned);
    const names = new Set(entries.map(({ name }) => foldPath(name.toString())));
    const isTaken = isRepository((name) => names.has(foldPath(name)));
    for (const entry of entries) {
      const pause = this.#breathe();
      if (pause !== undefined) await pause;
      const isHead = isTaken && foldPath(entry.name.toString()) === 'head';
      await this.#judge(pinned, entry, { folder, root, isHead });
    }
    this.#scope.open?.set(folder, { root, ctimeMs: before.ctimeMs, identity: identify(before) });
  }

  async #judge(
    pinned: OpenFolder,
    { name, ...entry }: Entry,
    { folder, root, isHead }: Waiting & { readonly isHead: boolean },
  ): Promise<void> {
    const text = name.toString();
    const path = `${folder}/${text}`;
    const { open, links, endedByMs } = this.#scope;
    if (this.#options.entry.knows(path)) return;
    if (endedByMs !== undefined && isBornAfter(pinned, name, endedByMs)) return;
    if (entry.isLink && links[path] !== undefined && links[path] === readLink(pinned, name)) return;
    // What is in a folder that the gate made is looked at by itself.
    const isMade = entry.isFolder && this.#options.entry.vouched.get(path)?.kind === 'folder';
    if (isHead || (!isMade && this.#options.isForbidden(path, root))) {
      await this.#setAside(pinned, name, { folder, root });
    } else if (entry.isFolder && (!isText(name) || (isTooDeep(path) && open?.has(path) !== true))) {
      // Nobody can name it, or everything in it, and so nobody can look into it.
      await this.#setAside(pinned, name, { folder, root, isEntered: true });
    } else if (entry.isFolder && open?.has(path) !== true) {
      this.#waiting.push({ folder: path, root });
    }
  }

  async #setAside(
    pinned: OpenFolder,
    name: Buffer,
    { folder, root, isEntered = false }: Waiting & { readonly isEntered?: boolean },
  ): Promise<void> {
    const from = entryOf(pinned, name);
    const path = `${folder}/${name.toString()}`;
    if (await this.#isAsMade(from, path)) return;
    // Nothing is awaited from here to the rename, so that what the gate writes meanwhile is not taken for what was judged.
    if (this.#putBack(from, root)) return;
    // Up to where what is in it can be named again, and out of a folder that other programs obey.
    const isBadPlace = isTooDeep(path) || (folder !== root && this.#options.isForbidden(folder, root));
    using top = isBadPlace ? pinFolder(root) : undefined;
    const aside = top === undefined ? this.#chooseName(pinned, name.toString(), { folder, root }) : this.#newName();
    const place = top === undefined ? folder : root;
    const done = tryRename(pinned, from, (top ?? pinned).entry(aside));
    if (done === 'gone') return;
    if (done === 'stuck') {
      if (this.stuck.length < mostTold) this.stuck.push(path);
      return;
    }
    await this.#options.entry.tellMoved(path);
    this.count += 1;
    if (this.paths.length < mostTold) this.paths.push(`${place}/${aside}`);
    if (isEntered) this.#waiting.push({ folder: `${place}/${aside}`, root });
  }

  async #isAsMade(entry: Buffer | string, path: string): Promise<boolean> {
    const { vouched } = this.#options.entry;
    for (let made = vouched.get(path); made?.kind === 'file';) {
      if (await isAsMade(entry, made)) return true;
      const now = vouched.get(path);
      if (now === made) return false;
      // The gate wrote it once more.
      made = now;
    }
    return false;
  }

  /** A folder of the person that was given a forbidden name is not the program's to move. */
  #putBack(from: Buffer | string, root: string): boolean {
    const stats = lookAt(from);
    const home = stats?.isDirectory() === true ? this.#homes.get(identify(stats)) : undefined;
    if (home === undefined || lookAt(home) !== undefined) return false;
    using parent = pinFolder(dirname(home));
    if (parent === undefined) return false;
    try {
      renameSync(from, parent.entry(basename(home)));
    } catch {
      return false;
    }
    this.#waiting.push({ folder: home, root });
    return true;
  }

  /** Telling, free, not too long, and not forbidden in its turn. */
  #chooseName(pinned: OpenFolder, name: string, { folder, root }: Waiting): string {
    const { mark, isForbidden } = this.#options;
    const telling = `${name}.withheld-${mark}`;
    const isGood =
      Buffer.byteLength(telling) <= longestName &&
      !telling.includes('\uFFFD') &&
      lookAt(pinned.entry(telling)) === undefined &&
      !isForbidden(`${folder}/${telling}`, root);
    return isGood ? telling : this.#newName();
  }

  #newName(): string {
    return `withheld-${this.#options.mark}-${randomBytes(6).toString('hex')}`;
  }
}

function listChanged(open: ReadonlyMap<string, OpenState>, sinceMs: number): readonly Waiting[] {
  const changed: Waiting[] = [];
  for (const [folder, { root, ctimeMs }] of open) {
    const stats = lookAt(folder);
    // Making an entry changes the folder, and nobody can take that time back.
    const isChanged = stats !== undefined && (stats.ctimeMs !== ctimeMs || stats.ctimeMs >= sinceMs - timeStepMs);
    if (isChanged) changed.push({ folder, root });
  }
  return changed.sort((a, b) => a.folder.length - b.folder.length);
}

/** Undefined: it is gone, another folder by now, or too deep to be named by anybody. */
function pinFolder(folder: string): OpenFolder | undefined {
  try {
    const opened = new OpenFolder(pinPath(folder, { followLinks: 'not-last', expect: 'folder' }));
    if (opened.realPath === folder) return opened;
    opened[Symbol.dispose]();
    return undefined;
  } catch (error) {
    if (error instanceof Vanished || hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENAMETOOLONG')) {
      return undefined;
    }
    throw error;
  }
}

interface Entry {
  readonly name: Buffer;
  readonly isFolder: boolean;
  readonly isLink: boolean;
}

/** Opens a folder that its program closed: it runs as the same user as the daemon, or the daemon is root. */
async function listEntries(folder: OpenFolder): Promise<readonly Entry[]> {
  const read = (): Promise<Dirent<Buffer>[]> => readdir(folder.path, { withFileTypes: true, encoding: 'buffer' });
  let entries: Dirent<Buffer>[];
  try {
    entries = await read();
  } catch (error) {
    if (!hasCode(error, 'EACCES') || !openUp(folder)) return [];
    entries = await read();
  }
  // Otherwise what is in its folders could not be looked at.
  if ((statSync(folder.path).mode & 0o100) === 0) openUp(folder);
  return entries.map((entry) => ({
    name: entry.name,
    isFolder: entry.isDirectory(),
    isLink: entry.isSymbolicLink(),
  }));
}

function openUp(folder: OpenFolder): boolean {
  try {
    chmodSync(folder.path, (statSync(folder.path).mode & 0o7777) | 0o700);
    return true;
  } catch {
    return false;
  }
}

function tryRename(folder: OpenFolder, from: Buffer | string, to: string): 'moved' | 'gone' | 'stuck' {
  for (let round = 1; ; round++) {
    try {
      renameSync(from, to);
      return 'moved';
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return 'gone';
      if (!hasCode(error, 'EACCES', 'EPERM') || round > 1 || !openUp(folder)) return 'stuck';
    }
  }
}

function isTooDeep(folder: string): boolean {
  return Buffer.byteLength(folder) > longestFolder;
}

/** Undefined: it is no link, or leads nowhere. */
function followLink(path: string): string | undefined {
  return attempt(() => (lookAt(path)?.isSymbolicLink() === true ? realpathSync.native(path) : undefined));
}

function isText(name: Buffer): boolean {
  return Buffer.from(name.toString()).equals(name);
}

function entryOf(folder: OpenFolder, name: Buffer): Buffer | string {
  return isText(name) ? folder.entry(name.toString()) : Buffer.concat([Buffer.from(`${folder.path}/`), name]);
}

function readLink(folder: OpenFolder, name: Buffer): string | undefined {
  return attempt(() => readlinkSync(entryOf(folder, name), 'utf8'));
}

/** No program can set the time at which a file came into being. Where that is not kept, it counts as old. */
function isBornAfter(folder: OpenFolder, name: Buffer, timeMs: number): boolean {
  return (lookAt(entryOf(folder, name))?.birthtimeMs ?? 0) > timeMs;
}
