import { lstatSync, opendirSync, renameSync } from 'node:fs';
import type { ToolContext } from '../model/tool.ts';
import { hasCode } from '../sandbox/has-code.ts';
import { OpenFolder, pinPath } from '../sandbox/open-path.ts';
import { Vanished } from '../sandbox/pin.ts';
import { takeBreaths } from './find-forbidden.ts';
import type { Forbidden } from './find-forbidden.ts';

/** A program that makes more of them than this is not thorough but hostile, and its last ones stay. */
const maxSetAside = 1000;

/**
 * Renames what appeared under names that the rules do not let this call create, such as the configuration of an agent
 * client: no sandbox can forbid a name in a folder that may be changed. `before` is what `findForbidden` said, at
 * `sinceMs` or later; the program has ended. Returns the new names.
 */
export async function setAsideForbidden(
  before: Forbidden,
  { sinceMs, mark }: { readonly sinceMs: number; readonly mark: string },
  { paths }: Pick<ToolContext, 'paths'>,
): Promise<readonly string[]> {
  const known = new Set([...before.hidden, ...before.frozen, ...before.open]);
  const breathe = takeBreaths();
  const renamed: string[] = [];
  // Making an entry changes the folder, and nobody can take that time back.
  const waiting = before.open.filter((folder) => changedSince(folder, sinceMs));
  for (let folder = waiting.pop(); folder !== undefined && renamed.length < maxSetAside; folder = waiting.pop()) {
    using pinned = pinFolder(folder);
    if (pinned === undefined) continue;
    for (const { name, isFolder } of listEntries(pinned)) {
      const pause = breathe();
      if (pause !== undefined) await pause;
      const path = `${folder}/${name}`;
      if (known.has(path)) continue;
      if (paths.judge(path, 'write') !== undefined) renamed.push(...setAside(pinned, name, mark));
      else if (isFolder) waiting.push(path);
    }
  }
  return renamed;
}

function changedSince(folder: string, sinceMs: number): boolean {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  // File systems count time in steps.
  return stats !== undefined && stats.ctimeMs >= sinceMs - 2000;
}

/** Undefined: it is gone, or another folder by now. */
function pinFolder(folder: string): OpenFolder | undefined {
  try {
    const opened = new OpenFolder(pinPath(folder, { followLinks: 'not-last', expect: 'folder' }));
    if (opened.realPath === folder) return opened;
    opened[Symbol.dispose]();
    return undefined;
  } catch (error) {
    if (error instanceof Vanished || hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES')) return undefined;
    throw error;
  }
}

function listEntries(folder: OpenFolder): readonly { readonly name: string; readonly isFolder: boolean }[] {
  const entries: { name: string; isFolder: boolean }[] = [];
  using directory = opendirSync(folder.path, { bufferSize: 128 });
  for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
    entries.push({ name: entry.name, isFolder: entry.isDirectory() });
  }
  return entries;
}

function setAside(folder: OpenFolder, name: string, mark: string): readonly string[] {
  const aside = `${name}.withheld-${mark}`;
  try {
    renameSync(folder.entry(name), folder.entry(aside));
    return [folder.realPathOf(aside)];
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTEMPTY', 'EEXIST', 'EACCES', 'EPERM', 'EROFS', 'EBUSY', 'ENAMETOOLONG')) return [];
    throw error;
  }
}
