import { constants, lchownSync, mkdirSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { refuse } from '../call/refusal.ts';
import { ToolFailure, ToolRefused } from '../call/tool.ts';
import { checkNotRepository } from './git-repository.ts';
import { hasCode, isWithin } from '@sallyport/sandbox';
import { checkOpened, isLink, OpenFolder, pinPath } from './open-path.ts';
import type { Reach } from './open-path.ts';
import type { NamedPath } from './parse-path.ts';
import type { Pin } from './pin.ts';

/** Called before each folder is created, with its real path; the rules allow it. Absent: no folder is created. */
export type OnMakeFolder = (realPath: string) => void;

/** An entry that may be changed, and the open folder that it is in. */
export class Target implements Disposable {
  readonly named: NamedPath;
  readonly folder: OpenFolder;
  readonly name: string;

  constructor(named: NamedPath, folder: OpenFolder) {
    this.named = named;
    this.folder = folder;
    this.name = basename(named.path);
  }

  get realPath(): string {
    return this.folder.realPathOf(this.name);
  }

  /** For calls of `node:fs`. Those that follow a link as the last component must not be used on it. */
  get entry(): string {
    return this.folder.entry(this.name);
  }

  [Symbol.dispose](): void {
    this.folder[Symbol.dispose]();
  }
}

/** Opens the folder of what is to be changed and asks the rules about the change. The target need not exist. */
export function openTarget(named: NamedPath, reach: Reach, onMakeFolder?: OnMakeFolder): Target {
  if (named.path === '/') throw new ToolFailure('NOT_A_FILE', 'The root folder cannot be changed.');
  const parent = { given: dirname(named.given), path: dirname(named.path) };
  const target = new Target(named, openFolderToChange(parent, reach, onMakeFolder));
  try {
    checkOpened(target.realPath, 'write', named, reach);
    checkNotRepository(target.realPath, named, reach);
    return target;
  } catch (error) {
    target[Symbol.dispose]();
    throw error;
  }
}

/**
 * Opens a folder in order to change its entries: component by component, and none may be a link. The rules are not
 * asked about the folder itself; ask them about each entry.
 */
export function openFolderToChange(named: NamedPath, reach: Reach, onMakeFolder?: OnMakeFolder): OpenFolder {
  // The working directory is the operator's choice, and so are links on the way to it.
  const start = isWithin(reach.workingDirectory, named.path) ? reach.workingDirectory : '/';
  let pin = pinPath(start, { followLinks: 'last-too', expect: 'folder' });
  for (const name of named.path.slice(start.length).split('/')) {
    if (name === '') continue;
    using parent = pin;
    pin = stepInto(parent, name, named, reach, onMakeFolder);
  }
  return new OpenFolder(pin);
}

/** Pins an entry as it is, a link too. Absent: there is no such entry. */
export function pinEntry(folder: OpenFolder, name: string): Pin | undefined {
  try {
    return pinPath(folder.entry(name), { followLinks: 'not-last', expect: 'anything' });
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Only a regular file with one name is written to: a second name may be outside the scope. */
export function checkWritable(stats: BigIntStats, named: NamedPath): void {
  if (stats.isSymbolicLink()) throw throughLink(named);
  if (!stats.isFile()) {
    const what = stats.isDirectory() ? 'a folder' : 'a device, pipe or socket';
    throw new ToolFailure('NOT_A_FILE', `${named.given} is ${what}.`);
  }
  if (stats.nlink > 1n) {
    throw new ToolRefused(
      refuse('UNSAFE_PATH', 'path-hard-link', `${named.given} has a second name, which may be elsewhere.`, {
        remedy: 'Replace it with a copy, so that it has only one name.',
      }),
    );
  }
}

function stepInto(parent: Pin, name: string, named: NamedPath, reach: Reach, onMakeFolder?: OnMakeFolder): Pin {
  const entry = parent.entry(name);
  try {
    return pinPath(entry, { followLinks: 'not-last', expect: 'folder' });
  } catch (error) {
    if (hasCode(error, 'ENOTDIR', 'ELOOP')) {
      throw isLink(entry) ? throughLink(named) : new ToolFailure('NOT_A_FOLDER', `A part of ${named.given} is a file.`);
    }
    if (!hasCode(error, 'ENOENT') || onMakeFolder === undefined) throw error;
  }
  makeFolder(parent, name, named, reach, onMakeFolder);
  return pinPath(entry, { followLinks: 'not-last', expect: 'folder' });
}

function makeFolder(parent: Pin, name: string, named: NamedPath, reach: Reach, onMakeFolder: OnMakeFolder): void {
  const realPath = join(parent.readRealPath(), name);
  checkOpened(realPath, 'write', { given: named.given, path: realPath }, reach);
  checkNotRepository(realPath, named, reach);
  onMakeFolder(realPath);
  try {
    mkdirSync(parent.entry(name), { mode: constants.S_IRWXU | constants.S_IRWXG | constants.S_IRWXO });
    handOver(parent, name);
  } catch (error) {
    // Another call made it just now.
    if (!hasCode(error, 'EEXIST')) throw error;
  }
}

/** What root makes in somebody's folder is theirs. */
function handOver(parent: Pin, name: string): void {
  if (process.geteuid?.() !== 0) return;
  const { uid, gid } = parent.stat();
  if (uid !== 0) lchownSync(parent.entry(name), uid, gid);
}

function throughLink(named: NamedPath): ToolRefused {
  return new ToolRefused(
    refuse('UNSAFE_PATH', 'path-link', `${named.given} leads through a link, and links are not followed for changes.`, {
      remedy: 'Name the file itself instead of the link.',
    }),
  );
}
