import { lstatSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { dirname } from 'node:path';
import type { Mount, Access } from '../program.ts';
import { arrangeMounts } from './arrange-mounts.ts';
import { refuseMount } from './check-mount.ts';
import type { MountClaims } from './launch.ts';
import { isWithin } from '../is-within.ts';

/** One mount of the sandbox. Parents come before what is in them. */
export type MountStep =
  | { readonly kind: 'bind'; readonly source: string; readonly target: string; readonly access: Access }
  /** `text`: what is seen there instead. Absent: something that cannot be opened. */
  | { readonly kind: 'hide-file'; readonly target: string; readonly text?: string }
  | { readonly kind: 'hide-folder'; readonly target: string };

export interface MountPlan {
  /** The mounts that the program asked for, as far as they are made. */
  readonly shown: readonly { readonly source: string; readonly access: Access }[];
  readonly steps: readonly MountStep[];
  readonly claims: MountClaims;
}

/** The kernel's list of mounts is read again for each one, so that the cost grows with the square. */
const maxSteps = 500;

/**
 * Turns what a program may see into mounts. `system` is what every program sees already, and is not mounted again.
 *
 * Hidden and frozen paths become mounts of their own. A mount cannot be renamed or removed from inside, but a folder
 * above it can, and then the next program would find the path elsewhere. So inside a writable mount every folder on
 * the way becomes a mount as well.
 *
 * What does not exist cannot be mounted over. A program that may write can create a path that was to be hidden or
 * frozen and was not there; the caller must check that afterwards. No other program may, as long as this one runs.
 *
 * Failure: throws ProgramNotStarted when a mount cannot be made as it is meant.
 */
export function planMounts(mounts: readonly Mount[], system: readonly string[]): MountPlan {
  const arranged = arrangeMounts(mounts, system);
  const standIns = new Map(mounts.flatMap((mount) => Object.entries(mount.standIns ?? {})));
  const steps: MountStep[] = [];
  const claims = { writes: [] as string[], holds: [] as string[], shuts: [] as string[], misses: [] as string[] };
  for (const mount of arranged) {
    const { source, target, access } = mount;
    if (!mount.isSystem) steps.push({ kind: 'bind', source, target, access });
    if (access === 'write') claims.writes.push(source);
    if (mount.isNested) claims.holds.push(source);
    for (const [path, step] of planInside({ ...mount, standIns })) {
      steps.push(step);
      claims.holds.push(path);
      if (step.kind !== 'bind' || step.access === 'read') claims.shuts.push(path);
    }
    claims.misses.push(...[...mount.hidden, ...mount.frozen].filter((path) => !claims.holds.includes(path)));
  }
  if (steps.length > maxSteps) {
    throw refuseMount(
      `The program needs ${steps.length} mounts, and at most ${maxSteps} are made.`,
      'Forbid whole folders instead of the files in them, or give the program a smaller folder.',
    );
  }
  return { shown: arranged.filter((mount) => !mount.isSystem), steps, claims };
}

interface MountWithInside {
  readonly source: string;
  readonly target: string;
  readonly access: Access;
  readonly hidden: readonly string[];
  readonly frozen: readonly string[];
  readonly standIns: ReadonlyMap<string, string>;
}

/** What is mounted inside a mount, by its path on the machine, parents first. */
function planInside({
  source,
  target,
  access,
  hidden,
  frozen,
  standIns,
}: MountWithInside): readonly (readonly [string, MountStep])[] {
  const inside = new Map<string, MountStep>();
  const place = (path: string): string => target + path.slice(source.length);
  for (const path of hidden) {
    const stats = findInside(source, path, 'hidden');
    if (stats === undefined) continue;
    const text = standIns.get(path);
    const file = { kind: 'hide-file', target: place(path), ...(text !== undefined && { text }) } as const;
    inside.set(path, stats.isDirectory() ? { kind: 'hide-folder', target: place(path) } : file);
  }
  for (const path of frozen) {
    if (findInside(source, path, 'kept as it is') === undefined) continue;
    inside.set(path, { kind: 'bind', source: path, target: place(path), access: 'read' });
  }
  if (access === 'write') {
    for (const point of [...inside.keys()]) {
      for (let path = dirname(point); path !== source; path = dirname(path)) {
        // Below a frozen folder nothing moves anyway.
        if (frozen.some((folder) => isWithin(folder, path))) continue;
        inside.set(path, { kind: 'bind', source: path, target: place(path), access: 'write' });
      }
    }
  }
  return [...inside].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** What is at a path below a mount; undefined when nothing is. A link on the way would lead the mount elsewhere. */
function findInside(source: string, path: string, purpose: string): Stats | undefined {
  let stats: Stats | undefined;
  for (let at = source.length; at < path.length;) {
    const next = path.indexOf('/', at + 1);
    at = next === -1 ? path.length : next;
    const component = path.slice(0, at);
    if (stats !== undefined && !stats.isDirectory()) return undefined;
    stats = lstatSync(component, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    if (stats.isSymbolicLink()) {
      throw refuseMount(
        `${path} must be ${purpose}, and ${component} is a symbolic link, over which nothing can be mounted.`,
        `Replace ${component} by what it leads to.`,
      );
    }
  }
  return stats;
}
