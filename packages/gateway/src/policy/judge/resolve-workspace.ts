import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { ConfigError } from '../../call/fault.ts';
import { resolveLinks } from '../patterns/canonical-path.ts';
import { protectPaths } from './protected-paths.ts';
import type { GateFolders, ProtectedPaths } from './protected-paths.ts';

export interface WorkspaceChoice extends GateFolders {
  /** SALLYPORT_WORKSPACE. Absent: the start folder, where that is safe. */
  readonly explicit?: string;
  /** Makes the workspace that is used where the start folder cannot be, and says where it is. */
  readonly makeOwnWorkspace: () => string;
  /** The folder the person started the daemon in. */
  readonly startFolder: string;
}

export interface Workspace {
  /** Without links, so that it matches what the kernel says is open. */
  readonly workspace: string;
  /** Why it is not the start folder, for the person at the terminal. Absent: it is what they asked for. */
  readonly reason?: string;
}

/**
 * Decides what $WORKSPACE stands for. No workspace contains, or is inside, a path that no rule may open. A folder that a person
 * named is used or refused, never silently exchanged.
 */
export function resolveWorkspace(choice: WorkspaceChoice): Workspace {
  const protectedPaths = protectPaths(choice);
  if (choice.explicit !== undefined) {
    const problem = findProblem(choice.explicit, choice, protectedPaths);
    if (problem === undefined) return { workspace: resolveLinks(resolve(choice.explicit)) };
    throw new ConfigError(
      `SALLYPORT_WORKSPACE cannot be used: ${resolve(choice.explicit)} ${problem}.`,
      'Set it to a project folder of its own, or leave it out.',
    );
  }
  const problem = findProblem(choice.startFolder, choice, protectedPaths);
  if (problem === undefined) return { workspace: resolveLinks(resolve(choice.startFolder)) };
  const workspace = prepareOwnWorkspace(choice, protectedPaths);
  return {
    workspace,
    reason: `It is not ${resolve(choice.startFolder)}, because that ${problem}. Set SALLYPORT_WORKSPACE to choose another.`,
  };
}

/**
 * A folder without links in its path, if sessions can work in it; otherwise why they cannot, as the end of a sentence.
 */
export function resolveRoot(
  folder: string,
  folders: GateFolders,
): { readonly path: string } | { readonly problem: string } {
  const problem = findProblem(folder, folders, protectPaths(folders));
  return problem === undefined ? { path: resolveLinks(resolve(folder)) } : { problem };
}

/** Why a folder cannot be the workspace, as the end of a sentence. */
function findProblem(folder: string, choice: GateFolders, protectedPaths: ProtectedPaths): string | undefined {
  const real = resolveLinks(resolve(folder));
  try {
    if (!statSync(real).isDirectory()) return 'is not a folder';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'does not exist' : `cannot be opened (${code ?? 'unknown error'})`;
  }
  if (real === '/') return 'is the root of the file system';
  if (real === resolveLinks(resolve(choice.userHome))) return 'is your home folder';
  return protectedPaths.explain(real, 'write');
}

function prepareOwnWorkspace(choice: WorkspaceChoice, protectedPaths: ProtectedPaths): string {
  let folder: string;
  try {
    folder = choice.makeOwnWorkspace();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`The workspace cannot be created: ${reason}`, 'Set SALLYPORT_WORKSPACE to a project folder.');
  }
  const problem = findProblem(folder, choice, protectedPaths);
  if (problem === undefined) return resolveLinks(folder);
  throw new ConfigError(
    `The workspace ${folder} cannot be used: it ${problem}.`,
    'Choose another home with SALLYPORT_HOME, or set SALLYPORT_WORKSPACE to a project folder.',
  );
}
