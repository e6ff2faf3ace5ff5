import { lstatSync, realpathSync } from 'node:fs';
import { posix } from 'node:path';
import { ProgramNotStarted } from '../program.ts';
import type { Mount } from '../program.ts';
import { isWithin } from '../is-within.ts';

/** Where the sandbox shows what runs the gate's own tools. */
export const runtimeFolder = '/opt/sallyport';

/** Files of the machine that programs expect and that reveal nothing about its people. Missing ones are left out. */
export const sharedFiles = ['/etc/ld.so.cache', '/etc/alternatives', '/etc/ssl/certs', '/etc/localtime'];

/** Files that the sandbox has of its own. */
export const ownFiles: Readonly<Record<string, string>> = {
  '/etc/passwd': 'sandbox:x:65534:65534:sandbox:/tmp:/bin/sh\n',
  '/etc/group': 'sandbox:x:65534:\n',
  '/etc/hosts': '127.0.0.1 localhost sandbox\n::1 localhost\n',
  '/etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
};

const reserved = ['/proc', '/sys', '/dev', runtimeFolder, ...sharedFiles, ...Object.keys(ownFiles)];
/** On most machines links into /usr. Where they are folders, they are part of the system that every program sees. */
const systemNames = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
/** Not files, or the whole machine. */
const unshowable = ['/proc', '/sys', '/dev'];

/** Throws ProgramNotStarted unless the mount can be made. `system`: folders that the sandbox always shows. */
export function checkMount(mount: Mount, system: readonly string[]): void {
  const { source, target, hidden = [], frozen = [] } = mount;
  for (const path of [source, target, ...hidden, ...frozen]) checkCanonical(path);
  for (const path of [...hidden, ...frozen]) {
    if (!isWithin(source, path)) throw refuseMount(`${path} does not lie in ${source}.`);
  }
  checkTarget(target, system);
  checkSource(source);
}

export function refuseMount(message: string, remedy?: string): ProgramNotStarted {
  return new ProgramNotStarted('SANDBOX_UNAVAILABLE', message, remedy === undefined ? {} : { remedy });
}

function checkCanonical(path: string): void {
  const isCanonical =
    path.startsWith('/') && !path.includes('\0') && path.isWellFormed() && posix.resolve(path) === path;
  if (!isCanonical) throw refuseMount(`${JSON.stringify(path)} is not an absolute, canonical path.`);
}

function checkTarget(target: string, system: readonly string[]): void {
  const taken = [...reserved, ...systemNames.filter((name) => !system.includes(name))];
  const other = taken.find((path) => isWithin(path, target) || isWithin(target, path));
  if (other !== undefined) {
    throw refuseMount(
      `Nothing can be shown at ${target}, because the sandbox has its own ${other}.`,
      `Grant the folders below ${target} that the program needs, or another place.`,
    );
  }
}

function checkSource(source: string): void {
  const stats = lstatSync(source, { throwIfNoEntry: false });
  if (stats === undefined) {
    throw new ProgramNotStarted('EXECUTION_ERROR', `${source}, which the program may see, does not exist.`);
  }
  if (source === '/' || unshowable.some((folder) => isWithin(folder, source))) {
    throw refuseMount(`${source} is shown to no program.`, 'Grant the folders that the program needs.');
  }
  // A path through a link is judged by another name than it has.
  if (stats.isSymbolicLink() || realpathSync.native(source) !== source) {
    throw refuseMount(`${source} is or leads through a symbolic link.`, 'Grant the path that it leads to.');
  }
  if (!stats.isDirectory() && !stats.isFile()) {
    throw refuseMount(`${source} is a device, pipe or socket.`, 'Grant files and folders only.');
  }
}
