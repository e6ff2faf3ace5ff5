import { lstatSync, realpathSync } from 'node:fs';
import { isWithin, hasCode } from '@sallyport/sandbox';
import type { Mount } from '@sallyport/sandbox';
import { refuse } from '../../call/refusal.ts';
import type { SweepNote } from '../../call/sweep.ts';
import { ToolRefused } from '../../call/tool.ts';
import type { PathClaim, ToolContext } from '../../call/tool.ts';
import { findForbidden } from '../leavings/find-forbidden.ts';
import type { OpenState } from '../leavings/find-forbidden.ts';
import { standInForGitConfig } from './git-config-stand-in.ts';
import { setAsideForbidden } from '../leavings/set-aside-forbidden.ts';
import type { Withheld } from '../leavings/set-aside-forbidden.ts';

export interface MountOptions {
  /** What the program is to see, where the rules allow it. Absent: everything that they grant. */
  readonly folders?: readonly PathClaim[];
  /** Folders of repositories, which git alone may change. What is in them is not looked at. Absent: none. */
  readonly gitFolders?: readonly string[];
  /** Whether it is known beforehand what the programs will leave. Absent: it is not. */
  readonly isForeseen?: boolean;
  /** Whether they run on, and `attend` is told how they make way. Absent: they end soon. */
  readonly isStaying?: boolean;
}

export type ViewContext = Pick<ToolContext, 'grants' | 'paths' | 'leavings' | 'sweeps' | 'signal'>;

/** What the programs of a call see of the machine. */
export interface ProgramView {
  readonly mounts: readonly Mount[];
  /**
   * To be called before any of them starts. The new names of what is set aside hold the mark. `onOutdated`: programs that
   * stay are asked to make way, as in `SweepWatch`. Throws ToolFailure.
   */
  readonly attend: (mark: string, onOutdated?: () => void) => Promise<Attendance>;
}

/** Looks after what programs leave behind. */
export interface Attendance {
  /** Renames what they left, until now, under names that the rules do not let them create. One at a time. */
  readonly sweep: () => Promise<Withheld>;
  /** The same when the programs have ended, for good. */
  readonly finish: () => Promise<Withheld>;
}

/**
 * Everything in the folders is judged by the rules, as for the file tools: what they do not let this call read is
 * hidden, what they do not let it change is frozen. So is what other programs run by themselves, such as every `.git`.
 *
 * The folders are looked at as they are now; what others put into them before the program starts is not covered. Throws
 * ToolRefused when something cannot be hidden: then nothing runs.
 */
export async function viewFor(
  context: ViewContext,
  { folders = listGranted(context), gitFolders = [], isForeseen = false, isStaying = false }: MountOptions = {},
): Promise<ProgramView> {
  const { roots, frozenRoots } = arrangeRoots(folders, context);
  // Otherwise what is being moved away would count as having been there.
  await context.sweeps.settle(
    roots.map(({ path }) => path),
    { isStaying },
  );
  const seen = { sinceMs: Date.now(), position: context.sweeps.position() };
  const forbidden = await findForbidden(roots, context, { gitFolders, isForeseen });
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
  const writable = roots.filter(({ access }) => access === 'write').map(({ path }) => path);
  const note: SweepNote = {
    roots: writable,
    known: [...forbidden.hidden, ...forbidden.frozen, ...frozenRoots, ...forbidden.tolerated, ...gitFolders],
    links: forbidden.links,
    caller: context.leavings.caller,
    isForeseen,
  };
  const nested = roots.filter((root) => roots.some((other) => other !== root && isWithin(other.path, root.path)));
  const closed = [...forbidden.hidden, ...forbidden.frozen, ...frozenRoots, ...nested.map(({ path }) => path)];
  context.sweeps.noteStart({ writes: writable, closed });
  return {
    mounts,
    attend: (mark, onOutdated) => attend(context, note, { ...seen, open: forbidden.open }, { mark, onOutdated }),
  };
}

const nothingWithheld: Withheld = { paths: [], count: 0, stuck: [] };
/** For programs that can change nothing. */
const idle: Attendance = {
  sweep: () => Promise.resolve(nothingWithheld),
  finish: () => Promise.resolve(nothingWithheld),
};

/** What nobody looks after, because nothing was promised about it. */
export const unattended: ProgramView = { mounts: [], attend: () => Promise.resolve(idle) };

async function attend(
  { paths, leavings, sweeps }: ViewContext,
  note: SweepNote,
  seen: { readonly open: ReadonlyMap<string, OpenState>; readonly sinceMs: number; readonly position: number },
  { mark, onOutdated }: { readonly mark: string; readonly onOutdated: (() => void) | undefined },
): Promise<Attendance> {
  if (note.roots.length === 0) return idle;
  const { isForeseen } = note;
  const scope = { ...note, open: new Map(seen.open) };
  const isForbidden = (path: string, root: string): boolean =>
    paths.judge(path, 'write') !== undefined || leavings.judge(path, root, { isForeseen }) !== undefined;
  const entry = await sweeps.enter(note, seen.position, { isForbidden, ...(onOutdated && { onOutdated }) });
  let last: Promise<unknown> = Promise.resolve();
  const sweep = (): Promise<Withheld> => {
    const next = last
      .catch(() => undefined)
      .then(() => setAsideForbidden(scope, seen.sinceMs, { isForbidden, entry, mark }));
    last = next;
    entry.during(next);
    return next;
  };
  const finish = async (): Promise<Withheld> => {
    let isDone = false;
    try {
      const withheld = await sweep();
      isDone = withheld.stuck.length === 0;
      return withheld;
    } finally {
      await entry.leave(isDone ? 'finished' : 'unfinished');
    }
  };
  return { sweep, finish };
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

/** Without what is inside another one of them. */
function outermost(paths: readonly string[]): readonly string[] {
  const kept: string[] = [];
  for (const path of [...new Set(paths)].sort((a, b) => a.length - b.length)) {
    if (!kept.some((outer) => isWithin(outer, path))) kept.push(path);
  }
  return kept;
}
