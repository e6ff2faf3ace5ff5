import { constants, lstatSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { dirname } from 'node:path';
import { ProgramNotStarted } from '../program.ts';
import type { Access } from '../program.ts';
import { refuseMount } from './check-mount.ts';

export interface SandboxUser {
  readonly uid: number;
  readonly gid: number;
}

/**
 * For a daemon that runs as root: confined programs get a user without any rights, because root's own files stay
 * root's inside a sandbox. The number lies where neither people, services nor containers get theirs, and below 2^16,
 * so that it exists inside a container too.
 */
export const unprivilegedUser: SandboxUser = { uid: 65530, gid: 65530 };

interface Shown {
  readonly source: string;
  readonly access: Access;
}

/**
 * The user that a sandbox is started as. Undefined: the current user. Root starts it as the owner of what the program
 * may change, or else of what it may read, or else as a user who owns nothing.
 */
export function chooseUser(self: SandboxUser, shown: readonly Shown[]): SandboxUser | undefined {
  if (self.uid !== 0) return undefined;
  const byImportance = shown.toSorted((a, b) => Number(b.access === 'write') - Number(a.access === 'write'));
  for (const { source } of byImportance) {
    const { uid, gid } = lstatSync(source);
    if (uid !== 0) return { uid, gid: gid === 0 ? unprivilegedUser.gid : gid };
  }
  return unprivilegedUser;
}

/** Throws ProgramNotStarted when the user cannot see, or cannot change, what the program is to see or to change. */
export function checkReach({ source, access }: Shown, user: SandboxUser): void {
  const closed = findClosedFolder(source, user);
  if (closed !== undefined) {
    throw refuseMount(
      `The daemon runs as root and programs as user ${user.uid}, who cannot enter ${closed}, so ${source} cannot be shown.`,
      `Run the daemon as an ordinary user, move ${source} elsewhere, or open the way: chmod o+x ${quote(closed)}`,
    );
  }
  const stats = lstatSync(source);
  const enter = stats.isDirectory() ? constants.X_OK : 0;
  if (!allows(stats, user, constants.R_OK | enter)) {
    throw refuseMount(
      `The daemon runs as root and programs as user ${user.uid}, who cannot read ${source}.`,
      `Run the daemon as an ordinary user, or let that user read: chmod -R o+rX ${quote(source)}`,
    );
  }
  if (access === 'write' && !allows(stats, user, constants.W_OK | enter)) {
    throw refuseMount(
      `The daemon runs as root and programs as user ${user.uid}, who cannot write to ${source}.`,
      `Run the daemon as an ordinary user, or give the folder away: chown -R ${user.uid}:${user.gid} ${quote(source)}`,
    );
  }
}

/** Why programs of a daemon that runs as root cannot change a folder, and what to do. Undefined: they can. */
export function explainUnwritable(
  folder: string,
  self: SandboxUser = { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 },
): { readonly reason: string; readonly remedy: string } | undefined {
  const shown: Shown = { source: folder, access: 'write' };
  const user = chooseUser(self, [shown]);
  try {
    if (user !== undefined) checkReach(shown, user);
    return undefined;
  } catch (error) {
    if (!(error instanceof ProgramNotStarted)) throw error;
    return { reason: error.message, remedy: error.remedy ?? '' };
  }
}

/** Whether the user can enter this folder. */
export function canEnter(folder: string, user: SandboxUser): boolean {
  return findClosedFolder(`${folder}/.`, user) === undefined;
}

export function canReach(path: string, user: SandboxUser): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats !== undefined && allows(stats, user, constants.R_OK) && findClosedFolder(path, user) === undefined;
}

function findClosedFolder(path: string, user: SandboxUser): string | undefined {
  let closed: string | undefined;
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (!allows(lstatSync(folder), user, constants.X_OK)) closed = folder;
    if (folder === '/') return closed;
  }
}

/** By the permission bits alone; access lists can give more, and then this says no where the kernel would say yes. */
function allows({ uid, gid, mode }: Stats, user: SandboxUser, wanted: number): boolean {
  const shift = uid === user.uid ? 6 : gid === user.gid ? 3 : 0;
  return ((mode >> shift) & wanted) === wanted;
}

function quote(path: string): string {
  return `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
