import { lstatSync, opendirSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import type { Dirent, Stats } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { attempt } from '@sallyport/contract';
import { isWithin, hasCode } from '@sallyport/sandbox';
import { refuse } from '../../call/refusal.ts';
import { ToolRefused } from '../../call/tool.ts';
import type { PathClaim, ToolContext } from '../../call/tool.ts';
import type { Access } from '@sallyport/sandbox';
import { hasOverlappingMounts } from './overlapping-mounts.ts';
import { hasOtherSpelling } from '../run/lax-names.ts';
import { isRepository } from '../../paths/git-repository.ts';
import { isInPackageStore } from '../../paths/open-path.ts';

/** Absolute paths inside folders that a program is about to see. */
export interface Forbidden {
  /** What the rules do not let this call read. */
  readonly hidden: readonly string[];
  /** What they do not let it change, and what other programs would run by themselves. */
  readonly frozen: readonly string[];
  /** Links that it may not make, but that are there, and where they lead. */
  readonly links: Readonly<Record<string, string>>;
  /** Files of this kind may stay: the granted folder is itself a repository. */
  readonly tolerated: readonly string[];
  /** The folders in which it can make new entries, as they are now. */
  readonly open: ReadonlyMap<string, OpenState>;
}

/** A folder in which entries can be made. Any change in it changes its `ctimeMs`. */
export interface OpenState {
  readonly root: string;
  readonly ctimeMs: number;
  /** Which folder it is, whatever its name. */
  readonly identity: string;
}

export interface ForbiddenOptions {
  /** Folders of repositories, which git alone may change. What is in them is not looked at. */
  readonly gitFolders: readonly string[];
  /** As in `LeavingsJudge`. */
  readonly isForeseen: boolean;
}

type WalkContext = Pick<ToolContext, 'paths' | 'leavings' | 'signal'>;

interface Visit {
  readonly folder: string;
  readonly root: string;
  readonly access: Access;
}

const maxEntries = 200_000;
/** Each one is a mount of its own in the sandbox. */
const maxFound = 400;
const sliceMs = 5;
const largeFolderBytes = 256 * 1024;

/**
 * Looks through folders for what the rules forbid, without following links. Judging a folder comes before what is in
 * it: one that is forbidden is forbidden whole. Gives other calls their turn and stops at the signal. Throws
 * ToolRefused when there is more than can be looked at, or something that cannot be named.
 */
export async function findForbidden(
  roots: readonly PathClaim[],
  context: WalkContext,
  options: ForbiddenOptions,
): Promise<Forbidden> {
  const walk = new ForbiddenWalk(roots, context, options);
  for (const { path, access } of roots) await walk.visit(path, access);
  await walk.findOtherNames();
  walk.checkSpelling();
  return walk;
}

class ForbiddenWalk implements Forbidden {
  readonly hidden: string[] = [];
  readonly frozen: string[] = [];
  readonly links: Record<string, string> = {};
  readonly tolerated: string[] = [];
  readonly open = new Map<string, OpenState>();
  readonly #roots: ReadonlySet<string>;
  /** What is mounted twice has two names, without a link that counts them. */
  readonly #isMountedTwice: boolean;
  readonly #gitFolders: ReadonlySet<string>;
  readonly #context: WalkContext;
  readonly #isForeseen: boolean;
  readonly #breathe = takeBreaths();
  #seen = 0;

  constructor(roots: readonly PathClaim[], context: WalkContext, { gitFolders, isForeseen }: ForbiddenOptions) {
    this.#roots = new Set(roots.map(({ path }) => path));
    this.#isMountedTwice = hasOverlappingMounts([...this.#roots]);
    this.#gitFolders = new Set(gitFolders);
    this.#context = context;
    this.#isForeseen = isForeseen;
  }

  async visit(root: string, access: Access): Promise<void> {
    if (this.#gitFolders.has(root)) return;
    const waiting: Visit[] = [{ folder: root, root, access }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { folder } = next;
      const stats = lstatSync(folder, { throwIfNoEntry: false });
      if (stats === undefined) continue;
      const left = next.access === 'write' ? this.#open(next, stats) : 'read';
      for (const entry of readEntries(folder, stats)) {
        const pause = this.#count();
        if (pause !== undefined) await pause;
        const path = `${folder}/${entry.name}`;
        // It is looked at for itself, with an access of its own.
        if (this.#roots.has(path)) continue;
        const inside = this.#judge(path, entry, { folder, root, access: left });
        if (inside !== undefined && entry.isDirectory()) waiting.push({ folder: path, root, access: inside });
      }
    }
  }

  /** A folder that git takes for a repository is one for git alone, whatever it is called. */
  #open({ folder, root }: Visit, stats: Stats): Access {
    if (isRepository((name) => lookAt(`${folder}/${name}`) !== undefined)) {
      if (folder !== root) {
        this.#keep(this.frozen, folder);
        return 'read';
      }
      this.tolerated.push(`${folder}/HEAD`);
    }
    this.open.set(folder, { root, ctimeMs: stats.ctimeMs, identity: identify(stats) });
    return 'write';
  }

  /** What remains of the access below the entry. Undefined: nothing, or there is no need to look there. */
  #judge(path: string, entry: Dirent, { root, access }: Visit): Access | undefined {
    const { paths, leavings } = this.#context;
    if (this.#gitFolders.has(path)) return undefined;
    checkName(path, entry, () => paths.judge(path, access) !== undefined);
    if (paths.judge(path, 'read') !== undefined) {
      this.#note(this.hidden, path, entry);
      return undefined;
    }
    if (access === 'read') return 'read';
    const isForeseen = this.#isForeseen;
    if (paths.judge(path, 'write') === undefined && leavings.judge(path, root, { isForeseen }) === undefined) {
      return 'write';
    }
    this.#note(this.frozen, path, entry);
    return 'read';
  }

  /**
   * A hidden file is hidden, and a frozen one frozen, under each of its names in the folders. Looks at every file, so
   * only where it has to.
   */
  async findOtherNames(): Promise<void> {
    const hidden = await this.#listLinked(this.hidden);
    const frozen = await this.#listLinked(this.frozen);
    if (hidden.size + frozen.size === 0) return;
    const [isHidden, isFrozen] = [new Set(this.hidden), new Set(this.frozen)];
    for await (const { path, entry, isInside } of this.#lookThrough([...this.#roots], isFrozen)) {
      if (isHidden.has(path)) continue;
      const identity = this.#identify(path, entry);
      if (identity === undefined) continue;
      if (hidden.has(identity)) this.#keep(this.hidden, path);
      else if (frozen.has(identity) && !isInside) this.#keep(this.frozen, path);
    }
  }

  /** Only one spelling of a name can be closed. */
  checkSpelling(): void {
    for (const path of [...this.hidden, ...this.frozen]) {
      const root = [...this.#roots].find((each) => isWithin(each, path));
      if (root === undefined || !hasOtherSpelling(path, root)) continue;
      throw cannotHide(
        'its file system does not tell upper from lower case, and Linux does',
        'Keep the workspace in a folder of Linux, such as in the home folder instead of on a drive of Windows.',
      );
    }
  }

  /** What may have more than one name. Undefined: it has one only, or cannot be looked at by us and so not by the program. */
  #identify(path: string, entry: Pick<Stats, 'isFile' | 'isDirectory'>): string | undefined {
    if (!entry.isFile() && !(this.#isMountedTwice && entry.isDirectory())) return undefined;
    const stats = lookAt(path);
    return stats !== undefined && (this.#isMountedTwice || stats.nlink > 1) ? identify(stats) : undefined;
  }

  /** What among these, and in the folders among these, may have more than one name. */
  async #listLinked(found: readonly string[]): Promise<ReadonlySet<string>> {
    const linked = new Set<string>();
    const add = (path: string, entry: Pick<Stats, 'isFile' | 'isDirectory'> | undefined): void => {
      const identity = entry === undefined || isInPackageStore(path) ? undefined : this.#identify(path, entry);
      if (identity !== undefined) linked.add(identity);
    };
    for (const path of found) add(path, lookAt(path));
    const outside = found.filter((path) => !isInPackageStore(`${path}/`));
    for await (const { path, entry } of this.#lookThrough(outside)) add(path, entry);
    return linked;
  }

  /** Everything below these folders, without the folders of git. `isInside`: one of those marked, or below it. */
  async *#lookThrough(
    folders: readonly string[],
    marked: ReadonlySet<string> = new Set(),
  ): AsyncGenerator<{ readonly path: string; readonly entry: Dirent; readonly isInside: boolean }, void, void> {
    const waiting = folders.map((folder) => ({ folder, isInside: marked.has(folder) }));
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { folder } = next;
      const stats = this.#gitFolders.has(folder) ? undefined : lookAt(folder);
      if (stats?.isDirectory() !== true) continue;
      for (const entry of readEntries(folder, stats)) {
        this.#context.signal.throwIfAborted();
        const pause = this.#breathe();
        if (pause !== undefined) await pause;
        const path = `${folder}/${entry.name}`;
        if (this.#roots.has(path)) continue;
        const isInside = next.isInside || marked.has(path);
        if (entry.isDirectory()) waiting.push({ folder: path, isInside });
        yield { path, entry, isInside };
      }
    }
  }

  #note(found: string[], path: string, entry: Dirent): void {
    const named = entry.isSymbolicLink() ? this.#followLink(path) : path;
    if (named !== undefined) this.#keep(found, named);
  }

  #keep(found: string[], path: string): void {
    found.push(path);
    if (found.length > maxFound) {
      throw cannotHide(`there are more than ${maxFound} files and folders in it that the rules keep back`);
    }
  }

  /** Nothing can be laid over a link, so what it leads to is closed instead. Undefined: the program does not see that. */
  #followLink(path: string): string | undefined {
    let real: string;
    try {
      this.links[path] = readlinkSync(path);
      real = realpathSync.native(path);
    } catch {
      return undefined;
    }
    if ([...this.#roots].some((root) => isWithin(real, root))) {
      throw cannotHide('a link that the rules keep back leads to a whole folder of it');
    }
    return [...this.#roots].some((root) => isWithin(root, real)) ? real : undefined;
  }

  #count(): Promise<void> | undefined {
    if (++this.#seen > maxEntries) throw cannotHide(`it has more than ${maxEntries} files and folders`);
    this.#context.signal.throwIfAborted();
    return this.#breathe();
  }
}

/** For long loops: await what the returned function returns, if anything, and other calls get their turn. */
export function takeBreaths(): () => Promise<void> | undefined {
  let sinceMs = performance.now();
  const pause = async (): Promise<void> => {
    await setImmediate();
    sinceMs = performance.now();
  };
  return () => (performance.now() - sinceMs < sliceMs ? undefined : pause());
}

export function lookAt(path: Buffer | string): Stats | undefined {
  return attempt(() => lstatSync(path));
}

export function identify({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}

/** Nothing, when the folder is gone, or closed to us and so to the program. A large one is not read at once. */
function* readEntries(folder: string, { size }: Stats): Generator<Dirent, void, void> {
  try {
    if (size < largeFolderBytes) {
      yield* readdirSync(folder, { withFileTypes: true });
      return;
    }
    using directory = opendirSync(folder, { bufferSize: 128 });
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) yield entry;
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP')) throw error;
  }
}

/** A name that is not UTF-8 reaches us changed, and what is called so can neither be entered nor hidden. */
function checkName(path: string, entry: Dirent, isForbidden: () => boolean): void {
  if (!entry.name.includes('\uFFFD') || lstatSync(path, { throwIfNoEntry: false }) !== undefined) return;
  if (entry.isDirectory() || isForbidden()) throw cannotHide('a name in it is not UTF-8');
}

function cannotHide(
  why: string,
  forOperators = 'Let the rules grant smaller folders, or forbid whole folders instead of many files.',
): ToolRefused {
  return new ToolRefused(
    refuse('UNSAFE_PATH', 'sandbox-view', `What the rules forbid cannot be hidden from the program: ${why}.`, {
      forOperators,
    }),
  );
}
