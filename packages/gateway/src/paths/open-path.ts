import { closeSync, constants, fstatSync, lstatSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { refuse } from '../call/refusal.ts';
import { ToolFailure, ToolRefused } from '../call/tool.ts';
import type { ToolContext } from '../call/tool.ts';
import type { Access } from '@sallyport/sandbox';
import { chooseEntryCalls } from './entry-calls.ts';
import type { EntryCalls } from './entry-calls.ts';
import { FolderPins } from './folder-pins.ts';
import { isWithin } from '@sallyport/sandbox';
import type { NamedPath } from './parse-path.ts';
import { pinByDescriptor } from './pin-by-descriptor.ts';
import { pinByName } from './pin-by-name.ts';
import { Vanished } from './pin.ts';
import type { Pin } from './pin.ts';

/** What a call may reach: the part of a tool's context that opening needs. */
export type Reach = Pick<ToolContext, 'paths' | 'workingDirectory'>;

export const pinPath = process.platform === 'linux' ? pinByDescriptor : pinByName;

export const folderPins = process.platform === 'linux' ? new FolderPins() : undefined;
/** Undefined: no file was opened in a held folder yet. */
let entryCalls: EntryCalls | undefined;

/** How often a name is looked up again when its file is replaced just then. */
const maxAttempts = 20;

/** A regular file, open for reading, that the rules allow under the name it really has. */
export class OpenFile implements Disposable {
  readonly fd: number;
  readonly stats: Stats;

  constructor(fd: number, stats: Stats) {
    this.fd = fd;
    this.stats = stats;
  }

  [Symbol.dispose](): void {
    closeSync(this.fd);
  }
}

/** A folder that stays the same folder when its name is exchanged. Takes over the pin. */
export class OpenFolder implements Disposable {
  /** The name it had when it was opened. */
  readonly realPath: string;
  readonly #pin: Pin;

  constructor(pin: Pin) {
    try {
      this.realPath = pin.readRealPath();
    } catch (error) {
      pin[Symbol.dispose]();
      throw error;
    }
    this.#pin = pin;
  }

  /** For calls of `node:fs`. */
  get path(): string {
    return this.#pin.path;
  }

  /** The entry `name`, for calls of `node:fs`. */
  entry(name: string): string {
    return this.#pin.entry(name);
  }

  /** The entry `name`, for the rules. */
  realPathOf(name: string): string {
    return join(this.realPath, name);
  }

  [Symbol.dispose](): void {
    this.#pin[Symbol.dispose]();
  }
}

/**
 * Opens a file for reading. Links are followed where they lead to something allowed. Throws ToolRefused, ToolFailure,
 * or the error of the system.
 */
export function openFile(named: NamedPath, reach: Reach): OpenFile {
  const near = openNear(named, reach);
  if (near !== undefined) return near;
  for (let attempt = 1; ; attempt++) {
    try {
      return openPinned(pinFollowing(named, reach), named, reach, true);
    } catch (error) {
      if (!(error instanceof Vanished) || attempt === maxAttempts) throw error;
    }
  }
}

/** Opens a file met in a folder. A link is refused, so that a walk meets nothing twice. */
export function openEntryFile(folder: OpenFolder, name: string, reach: Reach): OpenFile {
  const pin = pinPath(folder.entry(name), { followLinks: 'not-last', expect: 'anything' });
  return openPinned(pin, { given: name, path: folder.realPathOf(name) }, reach);
}

/** Opens a folder for reading its entries, following links as `openFile` does. */
export function openFolder(named: NamedPath, reach: Reach): OpenFolder {
  return judgeFolder(pinFollowing(named, reach), 'read', named, reach);
}

export function openEntryFolder(folder: OpenFolder, name: string, access: Access, reach: Reach): OpenFolder {
  const pin = pinPath(folder.entry(name), { followLinks: 'not-last', expect: 'folder' });
  return judgeFolder(pin, access, { given: name, path: folder.realPathOf(name) }, reach);
}

/** Asks the rules about what is really open. Throws ToolRefused. */
export function checkOpened(realPath: string, access: Access, named: NamedPath, reach: Reach): void {
  // The gate's own memory and environment are in there, and whatever the kernel lets its user change.
  if (isWithin('/proc', realPath) || isWithin('/sys', realPath)) {
    throw new ToolRefused(refuse('UNSAFE_PATH', 'path-kernel', `${named.given} belongs to the kernel.`));
  }
  const refusal = reach.paths.judge(realPath, access);
  if (refusal !== undefined) throw realPath === named.path ? new ToolRefused(refusal) : leadsOut(named);
}

function openPinned(pin: Pin, named: NamedPath, reach: Reach, keepsFolder = false): OpenFile {
  using pinned = pin;
  const realPath = pinned.readRealPath();
  checkOpened(realPath, 'read', named, reach);
  const stats = pinned.stat();
  checkReadable(stats, { ...named, path: realPath });
  const file = new OpenFile(pinned.reopen(constants.O_RDONLY), stats);
  if (keepsFolder && folderPins !== undefined && realPath === named.path) folderPins.keep(dirname(realPath));
  return file;
}

/**
 * The same through the folder, where a file in it was opened just before: fewer calls, and the file is judged by the path
 * that the kernel gives it, as always. Undefined where anything is out of the ordinary; nothing has happened then. What is
 * opened is an entry of a folder that was reached without a link, and is no link itself; it is neither waited for nor
 * changed, whatever it is.
 */
function openNear(named: NamedPath, reach: Reach): OpenFile | undefined {
  const slash = named.path.lastIndexOf('/');
  const folder = named.path.slice(0, slash);
  const pinned = folderPins?.find(folder);
  if (pinned === undefined) return undefined;
  entryCalls ??= chooseEntryCalls();
  const fd = entryCalls.open(pinned, named.path.slice(slash + 1));
  if (fd === undefined) return undefined;
  try {
    if (entryCalls.isAt(fd, named.path)) {
      checkOpened(named.path, 'read', named, reach);
      const stats = fstatSync(fd);
      checkReadable(stats, named);
      return new OpenFile(fd, stats);
    }
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  // The folder is elsewhere by now, or another one is there.
  closeSync(fd);
  folderPins?.drop(folder);
  return undefined;
}

function judgeFolder(pin: Pin, access: Access, named: NamedPath, reach: Reach): OpenFolder {
  const folder = new OpenFolder(pin);
  try {
    checkOpened(folder.realPath, access, named, reach);
    if (pin.stat().isDirectory()) return folder;
    throw new ToolFailure('NOT_A_FOLDER', `${named.given} is not a folder.`);
  } catch (error) {
    folder[Symbol.dispose]();
    throw error;
  }
}

/**
 * A hard link may be the second name of a file that the rules forbid, here or elsewhere. It is read only where package
 * managers and git share files, and there only if everyone may read the file. `path` is the real one.
 */
export function checkReadable(stats: Stats, named: NamedPath): void {
  if (stats.isSymbolicLink()) throw leadsOut(named);
  if (!stats.isFile()) {
    const what = stats.isDirectory() ? 'a folder; use files.list' : 'a device, pipe or socket';
    throw new ToolFailure('NOT_A_FILE', `${named.given} is ${what}.`);
  }
  const isShared = isInPackageStore(named.path) && (stats.mode & constants.S_IROTH) !== 0;
  if (stats.nlink > 1 && !isShared) {
    throw new ToolRefused(
      refuse('UNSAFE_PATH', 'path-hard-link', `${named.given} has a second name, which may be elsewhere.`, {
        remedy: 'Copy the file, so that it has only one name.',
      }),
    );
  }
}

function pinFollowing(named: NamedPath, reach: Reach): Pin {
  try {
    return pinPath(named.path, { followLinks: 'last-too', expect: 'anything' });
  } catch (error) {
    checkMissing(named, reach);
    throw error;
  }
}

/**
 * What cannot be opened is answered like what may not be opened when the way to it leads out of the scope. Otherwise
 * a link would tell which files exist there.
 */
function checkMissing(named: NamedPath, reach: Reach): void {
  for (let at = named.path; at !== '/'; at = dirname(at)) {
    let pin;
    try {
      pin = pinPath(dirname(at), { followLinks: 'last-too', expect: 'folder' });
    } catch {
      continue;
    }
    using folder = pin;
    if (isLink(folder.entry(basename(at)))) throw leadsOut(named);
    checkOpened(join(folder.readRealPath(), named.path.slice(dirname(at).length)), 'read', named, reach);
    return;
  }
}

export function isLink(entry: string): boolean {
  try {
    return lstatSync(entry).isSymbolicLink();
  } catch {
    return false;
  }
}

function leadsOut(named: NamedPath): ToolRefused {
  const message = `${named.given} leads through a link to something that is missing or not allowed.`;
  return new ToolRefused(
    refuse('UNSAFE_PATH', 'path-link', message, { remedy: 'Name the file itself instead of the link.' }),
  );
}

/** Where package managers and git share files with a store by giving them a second name. */
const stores = /\/(?:node_modules|\.pnpm-store|site-packages|\.git\/(?:.*\/)?objects)\//;

export function isInPackageStore(realPath: string): boolean {
  return stores.test(realPath);
}
