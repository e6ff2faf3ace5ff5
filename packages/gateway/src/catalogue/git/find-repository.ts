import { closeSync, lstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { refuse } from '../../call/refusal.ts';
import { ToolFailure, ToolRefused } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import type { Access } from '@sallyport/sandbox';
import { hasCode } from '@sallyport/sandbox';

/** The paths of the parts of a repository. Absolute, without links, and all of them allowed by the rules. */
export interface Repository {
  /** The folder with the files. */
  readonly top: string;
  /** What belongs to these files alone: HEAD, the index. */
  readonly gitFolder: string;
  /** What several sets of files share: objects, branches, configuration. Usually the same. */
  readonly commonFolder: string;
}

const maxPointerBytes = 4096;

/**
 * Finds the repository around a folder, as git would, but only as far as the rules let the call look; and follows the
 * pointers of worktrees only to where they let it go. Throws ToolRefused or ToolFailure.
 */
export function findRepository(folder: string, access: Access, { paths }: Pick<ToolContext, 'paths'>): Repository {
  for (let top = realPathOf(folder); paths.judge(top, 'read') === undefined; top = dirname(top)) {
    const entry = lstatSync(join(top, '.git'), { throwIfNoEntry: false });
    if (entry === undefined) {
      if (top === '/') break;
      continue;
    }
    const gitFolder = entry.isFile() ? readPointer(join(top, '.git'), 'gitdir: ', top) : realPathOf(join(top, '.git'));
    const commonFolder = findCommonFolder(gitFolder);
    for (const reached of [top, gitFolder, commonFolder]) {
      if (paths.judge(reached, access) !== undefined) throw leadsOut();
    }
    return { top, gitFolder, commonFolder };
  }
  throw new ToolFailure('NOT_FOUND', 'There is no git repository here that the rules let this call use.');
}

function findCommonFolder(gitFolder: string): string {
  const pointer = join(gitFolder, 'commondir');
  return lstatSync(pointer, { throwIfNoEntry: false }) === undefined ? gitFolder : readPointer(pointer, '', gitFolder);
}

function readPointer(file: string, prefix: string, base: string): string {
  const text = readStart(file);
  const target = text.trimEnd().slice(prefix.length);
  if (!text.startsWith(prefix) || target === '' || /[\0\n]/.test(target)) throw leadsOut();
  return realPathOf(resolve(base, target));
}

function readStart(file: string): string {
  const buffer = Buffer.alloc(maxPointerBytes);
  const descriptor = openSync(file, 'r');
  try {
    return buffer.toString('utf8', 0, readSync(descriptor, buffer, 0, maxPointerBytes, 0));
  } finally {
    closeSync(descriptor);
  }
}

function realPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES')) {
      throw new ToolFailure('NOT_FOUND', 'The folder, or the repository that it belongs to, does not exist.');
    }
    throw error;
  }
}

function leadsOut(): ToolRefused {
  return new ToolRefused(
    refuse('UNSAFE_PATH', 'git-pointer', 'The .git of this folder leads to something that the rules do not allow.', {
      remedy: 'Work in the repository itself.',
      forOperators: 'Work in the repository itself, or let the rules allow both folders.',
    }),
  );
}
