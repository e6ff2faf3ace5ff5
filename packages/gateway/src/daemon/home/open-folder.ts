import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { canEnter, unprivilegedUser } from '@sallyport/sandbox';

const systemFolder = '/var/lib/sallyport';

/**
 * The folder of things that confined programs see: accepted tools, the SDK and the gate's own workspace. Usually the home.
 * A daemon that runs as root has programs run under a user without rights, who must be able to come near; below a
 * closed folder such as /root they get a place of their own. Others can enter it, and read there what is shown to
 * programs anyway, but change nothing.
 */
export function findOpenFolder(home: string): string {
  if (process.getuid?.() !== 0 || canEnter(home, unprivilegedUser)) return home;
  return join(systemFolder, hash('sha256', home).slice(0, 16));
}

/** Makes a folder below the home or the open folder that confined programs can enter. */
export function makeOpenFolder(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o711 });
  if (process.getuid?.() === 0) chmodSync(path, 0o711);
  return path;
}

/** Makes the gate's own workspace, for root one that belongs to the user of confined programs. */
export function makeOwnWorkspace(path: string): string {
  const made = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (made !== undefined && process.getuid?.() === 0) chownSync(path, unprivilegedUser.uid, unprivilegedUser.gid);
  return path;
}
