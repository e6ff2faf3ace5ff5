import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import type { Stats } from 'node:fs';
import { join } from 'node:path';
import { ToolFailure } from '../../../call/tool.ts';
import { checkReadable, OpenFolder, pinPath } from '../../../paths/open-path.ts';
import type { Pin } from '../../../paths/pin.ts';
import { setTimes } from '../draft.ts';
import { copyBytes, syncFiles } from '../file-bytes.ts';
import { readEntries } from './read-entries.ts';

/** Copies an entry and all that is in it to a new path of our own, links as links. Files are durable afterwards. */
export async function copyTree(folder: OpenFolder, name: string, to: string, signal: AbortSignal): Promise<void> {
  using pin = pinPath(folder.entry(name), { followLinks: 'not-last', expect: 'anything' });
  const stats = pin.stat();
  if (stats.isFile()) {
    // What could not be read here because of its second name must not become readable when it is restored.
    checkReadable(stats, { given: name, path: folder.realPathOf(name) });
    return await copyFile(pin, stats, to, signal);
  }
  if (stats.isSymbolicLink()) return symlinkSync(readlinkSync(folder.entry(name)), to);
  if (!stats.isDirectory()) {
    throw new ToolFailure('NOT_A_FILE', `${name} is a device, pipe or socket, which the trash cannot keep.`);
  }
  mkdirSync(to, { mode: 0o700 });
  using inner = enter(folder, name);
  for (const entry of await namesIn(inner, signal)) await copyTree(inner, entry, join(to, entry), signal);
  chmodSync(to, stats.mode & 0o777);
}

/** Removes an entry and all that is in it, never what a link in it leads to, even if it is exchanged meanwhile. */
export async function removeTree(folder: OpenFolder, name: string, signal: AbortSignal): Promise<void> {
  if (!lstatSync(folder.entry(name)).isDirectory()) return unlinkSync(folder.entry(name));
  {
    using inner = enter(folder, name);
    for (const entry of await namesIn(inner, signal)) await removeTree(inner, entry, signal);
  }
  rmdirSync(folder.entry(name));
}

async function copyFile(pin: Pin, stats: Stats, to: string, signal: AbortSignal): Promise<void> {
  const { size, mode } = stats;
  const { atimeNs, mtimeNs } = pin.statExactly();
  const source = pin.reopen(constants.O_RDONLY);
  try {
    const copy = openSync(to, 'wx', 0o600);
    try {
      await copyBytes(source, copy, size, createHash('sha256'), signal);
      fchmodSync(copy, mode & 0o777);
      setTimes(copy, { atimeUs: Number(atimeNs / 1000n), mtimeUs: Number(mtimeNs / 1000n) });
      await syncFiles(copy);
    } finally {
      closeSync(copy);
    }
  } finally {
    closeSync(source);
  }
}

function enter(folder: OpenFolder, name: string): OpenFolder {
  return new OpenFolder(pinPath(folder.entry(name), { followLinks: 'not-last', expect: 'folder' }));
}

async function namesIn(folder: OpenFolder, signal: AbortSignal): Promise<readonly string[]> {
  const { entries } = await readEntries(folder, { maxEntries: Infinity, signal });
  return entries.map(({ name }) => name);
}
