import { constants, lstatSync, readlinkSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { absent } from '../../../call/journal.ts';
import type { EntryState } from '../../../call/journal.ts';
import { changeContext, ToolFailure } from '../../../call/tool.ts';
import type { ToolContext } from '../../../call/tool.ts';
import { hasCode } from '@sallyport/sandbox';
import { OpenFolder, pinPath } from '../../../paths/open-path.ts';
import { pinEntry } from '../../../paths/open-to-change.ts';
import { FormerFile } from '../former-file.ts';
import { EntryIdentities } from './identify-entries.ts';
import { FolderWalk } from './walk-folder.ts';

/** Larger files are not read to know them again. */
const maxHashedBytes = 64 * 1024 * 1024;

const modeBits = 0o7777;
const wholeTree = { access: 'write', recursive: true, includeHidden: true } as const;

export function fileState(stats: BigIntStats, sha256: string | undefined): EntryState {
  return {
    kind: 'file',
    ...(sha256 === undefined ? {} : { sha256 }),
    sizeBytes: Number(stats.size),
    mode: Number(stats.mode) & modeBits,
    mtimeUs: Number(stats.mtimeNs / 1000n),
    atimeUs: Number(stats.atimeNs / 1000n),
  };
}

/** Whether a path that was left in one state and is found in the other is as it was left. */
export function isSameState(a: EntryState, b: EntryState): boolean {
  switch (a.kind) {
    case 'absent':
    case 'folder':
      return a.kind === b.kind;
    case 'file': {
      if (b.kind !== 'file' || a.mode !== b.mode || a.sizeBytes !== b.sizeBytes) return false;
      const isHashed = a.sha256 !== undefined && b.sha256 !== undefined;
      return isHashed ? a.sha256 === b.sha256 : a.mtimeUs === b.mtimeUs;
    }
    case 'tree':
      return b.kind === 'tree' && a.sha256 === b.sha256;
    case 'link':
      return b.kind === 'link' && a.target === b.target;
    case 'repository':
      return b.kind === 'repository' && a.sha256 === b.sha256;
    case 'unknown':
      return false;
  }
}

/** What is at a name in an open folder. Follows no link. Throws ToolFailure for what cannot be kept. */
export async function readState(folder: OpenFolder, name: string, context: ToolContext): Promise<EntryState> {
  using pin = pinEntry(folder, name);
  if (pin === undefined) return absent;
  const stats = pin.statExactly();
  if (stats.isSymbolicLink()) return { kind: 'link', target: readlinkSync(folder.entry(name)) };
  if (stats.isDirectory()) return await readFolder(folder, name, stats, context);
  if (!stats.isFile()) throw new ToolFailure('NOT_A_FILE', `${name} is a device, pipe or socket.`);
  try {
    using file = new FormerFile(pin.reopen(constants.O_RDONLY), stats);
    return fileState(stats, await hashOf(file, context.signal));
  } catch (error) {
    // What its owner closed to reading can be deleted and moved all the same.
    if (hasCode(error, 'EACCES')) return fileState(stats, undefined);
    throw error;
  }
}

/** Absent for what is too large. */
export async function hashOf(file: FormerFile, signal: AbortSignal): Promise<string | undefined> {
  return file.size > maxHashedBytes ? undefined : file.sha256(signal);
}

async function readFolder(
  folder: OpenFolder,
  name: string,
  stats: BigIntStats,
  context: ToolContext,
): Promise<EntryState> {
  using inner = new OpenFolder(pinPath(folder.entry(name), { followLinks: 'not-last', expect: 'folder' }));
  const identities = new TreeDigest();
  // It goes as a whole or stays as a whole; the rules are asked about it where it is changed.
  const walk = new FolderWalk(changeContext(context, { paths: { judge: () => undefined } }), wholeTree);
  for await (const { folder: parent, name: entry, relativePath } of walk.entries(inner)) {
    identities.add(relativePath, parent, entry);
  }
  if (walk.cut || walk.omitted > 0) throw new ToolFailure('TOO_LARGE', `${name} holds too much to be looked through.`);
  return identities.entries === 0 ? { kind: 'folder', mode: Number(stats.mode) & modeBits } : identities.state();
}

/** Tells a folder with all that is in it, here or in a copy that was made of it. Contents count by size and time. */
export class TreeDigest {
  readonly #identities = new EntryIdentities();
  entries = 0;

  add(relativePath: string, folder: OpenFolder, name: string): void {
    this.entries++;
    const stats = lstatSync(folder.entry(name), { bigint: true, throwIfNoEntry: false });
    this.#identities.add(relativePath, stats === undefined ? 'none' : describe(stats, folder, name));
  }

  /** Call it once, at the end. */
  state(): EntryState {
    return { kind: 'tree', sha256: this.#identities.digest(), entries: this.entries };
  }
}

function describe(stats: BigIntStats, folder: OpenFolder, name: string): string {
  const mode = Number(stats.mode) & modeBits;
  if (stats.isSymbolicLink()) return `link ${readlinkSync(folder.entry(name))}`;
  // The time of a folder tells of its entries, and those are here by themselves.
  if (stats.isDirectory()) return `folder ${mode}`;
  return `file ${mode} ${stats.size} ${stats.mtimeNs / 1000n}`;
}
