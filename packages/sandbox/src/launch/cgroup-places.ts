import { accessSync, constants, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A folder of a control group file system in which groups may be made. */
export interface CgroupPlace {
  readonly folder: string;
  readonly version: 1 | 2;
}

/** Where CPU time, memory and processes are counted. On a machine with one hierarchy it is three times the same. */
export interface CgroupPlaces {
  readonly cpu: CgroupPlace;
  readonly memory: CgroupPlace;
  readonly processes: CgroupPlace;
}

/** Each folder once. Groups must be made in all of them. */
export function distinctPlaces({ cpu, memory, processes }: CgroupPlaces): readonly CgroupPlace[] {
  return [cpu, memory, processes].filter(
    ({ folder }, at, all) => all.findIndex((other) => other.folder === folder) === at,
  );
}

/** Where all processes of a group can be found, and killed at once if the kernel can do that. */
export function killPlace({ cpu, processes }: CgroupPlaces): CgroupPlace {
  return cpu.version === 2 ? cpu : processes;
}

interface Mount {
  readonly version: 1 | 2;
  readonly controllers: readonly string[];
  readonly root: string;
  readonly folder: string;
}

/**
 * Places inside the group of this process, so that all limits set on it still apply; the best first. Under version 2
 * a group with processes of its own cannot hand controllers down, so those above are candidates too: anyone who may
 * write there was given that part of the tree. Whether one works is known when a group was made in it.
 */
export function findPlaces(
  mountInfo = readFileSync('/proc/self/mountinfo', 'utf8'),
  ownGroups = readFileSync('/proc/self/cgroup', 'utf8'),
): readonly CgroupPlaces[] {
  const mounts = parseMounts(mountInfo);
  const own = parseOwnGroups(ownGroups);
  const first = (controller: string): CgroupPlace | undefined => {
    const mount = mounts.find(({ version, controllers }) => version === 1 && controllers.includes(controller));
    const folder = mount && ownFolder(mount, own.get(controller));
    return folder === undefined ? undefined : { folder, version: 1 };
  };
  const [memory, processes, cpuacct] = [first('memory'), first('pids'), first('cpuacct')];
  const unified = mounts.find(({ version }) => version === 2);
  const unifiedFolder = unified && ownFolder(unified, own.get(''));
  const places: CgroupPlaces[] = [];
  if (unified !== undefined && unifiedFolder !== undefined) {
    for (const folder of upwards(unifiedFolder, unified.folder)) {
      const here = { folder, version: 2 } as const;
      places.push({ cpu: here, memory: memory ?? here, processes: processes ?? here });
    }
  }
  if (cpuacct && memory && processes) places.push({ cpu: cpuacct, memory, processes });
  return places;
}

/** Makes the controllers that version 2 has to supply available to groups in the place. Throws when that cannot be. */
export function enableControllers(places: CgroupPlaces): void {
  const wanted = [
    ...(places.memory.version === 2 ? ['memory'] : []),
    ...(places.processes.version === 2 ? ['pids'] : []),
  ];
  if (wanted.length === 0) return;
  const file = join(places.cpu.folder, 'cgroup.subtree_control');
  const enabled = new Set(readFileSync(file, 'utf8').trim().split(' '));
  const missing = wanted.filter((controller) => !enabled.has(controller));
  if (missing.length > 0) writeFileSync(file, missing.map((controller) => `+${controller}`).join(' '));
  accessSync(places.cpu.folder, constants.W_OK);
}

function parseMounts(text: string): Mount[] {
  return text.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ', 2);
    const [root, folder] = before.split(' ').slice(3, 5);
    const [type, , options = ''] = after.split(' ');
    if (root === undefined || folder === undefined || (type !== 'cgroup' && type !== 'cgroup2')) return [];
    const version = type === 'cgroup2' ? 2 : 1;
    return [{ version, controllers: options.split(','), root: unescape(root), folder: unescape(folder) }];
  });
}

/** Paths by controller; version 2 stands under the empty name. */
function parseOwnGroups(text: string): Map<string, string> {
  const own = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (path !== undefined) for (const controller of (controllers ?? '').split(',')) own.set(controller, path);
  }
  return own;
}

function ownFolder(mount: Mount, path: string | undefined): string | undefined {
  if (path === undefined || path.split('/').includes('..')) return undefined;
  if (mount.root === '/') return join(mount.folder, path);
  // Another root than ours: the mount shows a part of the tree that does not hold this process.
  return path === mount.root || path.startsWith(`${mount.root}/`)
    ? join(mount.folder, path.slice(mount.root.length))
    : undefined;
}

function* upwards(folder: string, root: string): Generator<string> {
  const top = join(root);
  let at = join(folder).replace(/(?<=.)\/$/, '');
  for (; at !== top && at.length > top.length; at = dirname(at)) yield at;
  yield top;
}

/** The kernel writes blanks and backslashes in octal. */
function unescape(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCodePoint(Number.parseInt(octal, 8)));
}
