import { lstatSync, realpathSync } from 'node:fs';
import { isWithin } from '../governance/canonical-path.ts';
import type { Mount } from '../model/program.ts';
import { refuse } from '../model/refusal.ts';
import { ToolRefused } from '../model/tool.ts';
import type { PathClaim, ToolContext } from '../model/tool.ts';
import { hasCode } from '../sandbox/has-code.ts';
import { findForbidden } from './find-forbidden.ts';
import { standInForGitConfig } from './git-config-stand-in.ts';
import { setAsideForbidden } from './set-aside-forbidden.ts';

export interface MountOptions {
  /** What the program is to see, where the rules allow it. Absent: everything that they grant. */
  readonly folders?: readonly PathClaim[];
  /** Folders of repositories, which git alone may change. What is in them is not looked at. Absent: none. */
  readonly gitFolders?: readonly string[];
}

/** What the programs of a call see of the machine. */
export interface ProgramView {
  readonly mounts: readonly Mount[];
  /**
   * When the programs have ended: renames what they put under names that the rules do not let this call create. The new
   * names, which are returned, hold the mark.
   */
  readonly setAside: (mark: string) => Promise<readonly string[]>;
}

/**
 * Everything in the folders is judged by the rules, as for the file tools: what they do not let this call read is
 * hidden, what they do not let it change is frozen. So is every `.git`, because git runs what is written there.
 *
 * The folders are looked at as they are now; what others put into them before the program starts is not covered. Throws
 * ToolRefused when something cannot be hidden: then nothing runs.
 */
export async function viewFor(
  context: Pick<ToolContext, 'grants' | 'paths' | 'signal'>,
  { folders = listGranted(context), gitFolders = [] }: MountOptions = {},
): Promise<ProgramView> {
  const sinceMs = Date.now();
  const { roots, frozenRoots } = arrangeRoots(folders, context);
  const forbidden = await findForbidden(roots, context, gitFolders);
  // Roots stand in the order of their lengths, so the last one around a path is the mount that shows it.
  const rootOf = (found: string) => roots.findLast((root) => isWithin(root.path, found));
  const mounts = roots.map((root): Mount => {
    const { path, access } = root;
    const isHere = (found: string): boolean => found !== path && rootOf(found) === root;
    const hidden = outermost(forbidden.hidden.filter(isHere));
    const frozen = outermost([...forbidden.frozen, ...frozenRoots].filter(isHere));
    return {
      source: path,
      target: path,
      access,
      ...(hidden.length === 0 ? {} : { hidden, ...standInsFor(hidden) }),
      ...(access === 'read' || frozen.length === 0 ? {} : { frozen }),
    };
  });
  return { mounts, setAside: (mark) => setAsideForbidden(forbidden, { sinceMs, mark }, context) };
}

/** The mounts alone, for programs that leave nothing behind that could be set aside. */
export async function mountsFor(
  context: Pick<ToolContext, 'grants' | 'paths' | 'signal'>,
  options: MountOptions = {},
): Promise<readonly Mount[]> {
  return (await viewFor(context, options)).mounts;
}

function standInsFor(hidden: readonly string[]): Pick<Mount, 'standIns'> {
  const found = hidden.flatMap((path) => {
    const text = standInForGitConfig(path);
    return text === undefined ? [] : [[path, text] as const];
  });
  return found.length === 0 ? {} : { standIns: Object.fromEntries(found) };
}

function listGranted({ grants }: Pick<ToolContext, 'grants'>): readonly PathClaim[] {
  const claim = (access: PathClaim['access']) => (path: string) => ({ path, access });
  return [...grants.read.map(claim('read')), ...grants.write.map(claim('write'))];
}

/**
 * One entry for each folder that is mounted by itself, outer ones first. A folder that may only be read inside one that
 * may be changed is no mount of its own but a frozen part of the outer one.
 */
function arrangeRoots(
  folders: readonly PathClaim[],
  context: Pick<ToolContext, 'paths'>,
): { readonly roots: readonly PathClaim[]; readonly frozenRoots: readonly string[] } {
  const found = folders.flatMap((folder) => resolveRoot(folder, context));
  // Among entries for the same folder the one that allows more comes first.
  found.sort((a, b) => a.path.length - b.path.length || (a.access === 'write' ? -1 : 1));
  const roots: PathClaim[] = [];
  const frozenRoots: string[] = [];
  for (const folder of found) {
    const outer = roots.findLast((root) => isWithin(root.path, folder.path));
    if (outer === undefined || (outer.access === 'read' && folder.access === 'write')) roots.push(folder);
    else if (outer.access === 'write' && folder.access === 'read' && outer.path !== folder.path) {
      frozenRoots.push(folder.path);
    }
  }
  return { roots, frozenRoots };
}

/** What is granted and allowed of a folder. Nothing: it does not exist, or the rules keep it from this call. */
function resolveRoot({ path, access }: PathClaim, { paths }: Pick<ToolContext, 'paths'>): readonly PathClaim[] {
  let real: string;
  try {
    real = realpathSync.native(path);
    lstatSync(real);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP')) return [];
    throw error;
  }
  if (real === '/' || ['/proc', '/sys', '/dev'].some((folder) => isWithin(folder, real))) {
    throw new ToolRefused(refuse('UNSAFE_PATH', 'path-kernel', `${path} is not a folder that programs can be given.`));
  }
  if (paths.judge(real, 'read') !== undefined) return [];
  return [{ path: real, access: access === 'write' && paths.judge(real, 'write') === undefined ? 'write' : 'read' }];
}

/** Without what lies inside another one of them. */
function outermost(paths: readonly string[]): readonly string[] {
  const kept: string[] = [];
  for (const path of [...new Set(paths)].sort((a, b) => a.length - b.length)) {
    if (!kept.some((outer) => isWithin(outer, path))) kept.push(path);
  }
  return kept;
}
