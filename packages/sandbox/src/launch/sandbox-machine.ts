import { lstatSync, readlinkSync } from 'node:fs';
import type { SandboxUser } from './choose-user.ts';
import type { Architecture } from './system-calls.ts';

/** What is known about this machine when a program is to be confined. Found once, by `probeSandbox`. */
export type SandboxMachine = BubblewrapMachine | SeatbeltMachine;

export interface BubblewrapMachine {
  readonly mechanism: 'bubblewrap';
  /** Absolute. */
  readonly bwrap: string;
  readonly architecture: Architecture;
  /** Who we are. */
  readonly self: SandboxUser;
  /** The program that runs us, absolute, without links. */
  readonly node: string;
  /** What every program sees of the system, read-only. */
  readonly system: SystemFolders;
}

export interface SeatbeltMachine {
  readonly mechanism: 'seatbelt';
  readonly node: string;
}

export interface SystemFolders {
  readonly folders: readonly string[];
  /** Links at the root that lead into the folders, such as `/bin` to `usr/bin`. */
  readonly links: readonly { readonly path: string; readonly to: string }[];
}

/** How the system is laid out: on most machines `/usr`, and links into it. */
export function readSystemFolders(): SystemFolders {
  const folders: string[] = [];
  const links: { path: string; to: string }[] = [];
  for (const path of ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']) {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats?.isDirectory() === true) folders.push(path);
    if (stats?.isSymbolicLink() === true) links.push({ path, to: readlinkSync(path) });
  }
  return { folders, links };
}
