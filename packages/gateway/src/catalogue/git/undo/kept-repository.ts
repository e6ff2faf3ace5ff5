import { hash } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '@sallyport/sandbox';
import type { ToolContext } from '../../../call/tool.ts';
import { nameInTrash } from '../../files/tree/trash.ts';
import type { Repository } from '../find-repository.ts';
import type { RepositorySnapshot, RepositoryState } from './repository-state.ts';

/** What a repository was before a call, as it lies in the trash. */
export interface KeptBefore extends Repository {
  readonly state: RepositoryState;
  /** The content of git's own files, in base64. */
  readonly files: Readonly<Record<string, string>>;
  /** Absent: there was no index. */
  readonly indexSha256?: string;
}

/** What of it is another thing after the call: what it was, and what it became. Absent on one side: it was not there. */
export type RepositoryChanges = Readonly<Record<string, { readonly was?: string; readonly became?: string }>>;

export interface KeptAfter {
  readonly changes: RepositoryChanges;
  /** Objects without which the state before cannot come back. Where there is a pack, it has those that may be lost. */
  readonly needed: readonly string[];
  /** Absent: there is no pack. */
  readonly packSha256?: string;
}

const names = { before: 'before.json', index: 'index', after: 'after.json', pack: 'objects.pack' } as const;

/** Durable when it returns. The hash tells whether it is still the same. */
export function keepBefore(
  repository: Repository,
  { state, index, files }: RepositorySnapshot,
  context: ToolContext,
): { readonly name: string; readonly sha256: string } {
  const { name, path } = nameInTrash(context);
  mkdirSync(path, { mode: 0o700 });
  const kept: KeptBefore = {
    ...repository,
    state,
    files: Object.fromEntries([...files].map(([file, bytes]) => [file, bytes.toString('base64')])),
    ...(index && { indexSha256: hash('sha256', index) }),
  };
  if (index !== undefined) write(path, names.index, index);
  const sha256 = writeJson(path, names.before, kept);
  sync(context.trashFolder);
  return { name, sha256 };
}

/** The same for what it was afterwards. */
export function keepAfter(
  name: string,
  { changes, needed, pack }: Pick<KeptAfter, 'changes' | 'needed'> & { readonly pack?: Buffer },
  { trashFolder }: Pick<ToolContext, 'trashFolder'>,
): string {
  const path = join(trashFolder, name);
  if (pack !== undefined) write(path, names.pack, pack);
  const kept: KeptAfter = { changes, needed, ...(pack && { packSha256: hash('sha256', pack) }) };
  return writeJson(path, names.after, kept);
}

/** Undefined: it is gone, or something changed it. */
export function readBefore(trashFolder: string, name: string, sha256: string): KeptBefore | undefined {
  return readJson(join(trashFolder, name, names.before), sha256) as KeptBefore | undefined;
}

export function readAfter(trashFolder: string, name: string, sha256: string): KeptAfter | undefined {
  return readJson(join(trashFolder, name, names.after), sha256) as KeptAfter | undefined;
}

export function readIndex(trashFolder: string, name: string, { indexSha256 }: KeptBefore): Buffer | undefined {
  return readIfSame(join(trashFolder, name, names.index), indexSha256);
}

export function readPack(trashFolder: string, name: string, { packSha256 }: KeptAfter): Buffer | undefined {
  return readIfSame(join(trashFolder, name, names.pack), packSha256);
}

/** What is staged is staged for a commit, so that with the index belongs where HEAD is, even if that is the same. */
export function compareStates(before: RepositoryState, after: RepositoryState): RepositoryChanges {
  const all = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...all].filter((name) => before[name] !== after[name]);
  const [, branch] = /^ref: (.*)$/.exec(after['HEAD'] ?? '') ?? [];
  const bound = changed.includes('index') ? ['HEAD', ...(branch === undefined ? [] : [branch])] : [];
  const told = [...new Set([...changed, ...bound])];
  return Object.fromEntries(
    told.map((name) => [name, { was: before[name], became: after[name] }]),
  ) as RepositoryChanges;
}

function readJson(path: string, sha256: string): unknown {
  const bytes = readIfSame(path, sha256);
  return bytes && (JSON.parse(bytes.toString('utf8')) as unknown);
}

function readIfSame(path: string, sha256: string | undefined): Buffer | undefined {
  try {
    const bytes = readFileSync(path);
    return hash('sha256', bytes) === sha256 ? bytes : undefined;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}

function writeJson(folder: string, name: string, value: object): string {
  const bytes = Buffer.from(JSON.stringify(value));
  write(folder, name, bytes);
  return hash('sha256', bytes);
}

function write(folder: string, name: string, bytes: Buffer): void {
  const fd = openSync(join(folder, name), 'w', 0o600);
  try {
    for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  sync(folder);
}

function sync(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
