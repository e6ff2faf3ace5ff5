/** How a confined program is started: everything that goes to the operating system, decided before anything runs. */
export interface Launch {
  /** Absolute: nothing is looked up on a PATH. */
  readonly file: string;
  readonly args: readonly string[];
  /** Of the process that is started, not of the program in it. Usually empty: what is here can be read inside. */
  readonly environment: Readonly<Record<string, string>>;
  /** Under which user and group. Absent: those of the spawner. */
  readonly user?: { readonly uid: number; readonly gid: number };
  /** What the process finds on descriptor 3, 4, 5 and so on. */
  readonly descriptors: readonly LaunchDescriptor[];
  /** What other programs must leave alone while this one is planned and runs; see `MountGate`. Absent: nothing. */
  readonly claims?: MountClaims;
}

export type LaunchDescriptor =
  /** To be read to its end, like a seccomp program or a list of arguments. A fresh descriptor each time. */
  | {
      readonly kind: 'bytes';
      readonly bytes: Uint8Array;
      /** The very same object every time, and no secret, so that the file may be kept. Absent: it may not. */
      readonly isConstant?: boolean;
    }
  /** A file or folder, opened without following links, and checked to be what it was when the launch was planned. */
  | { readonly kind: 'path'; readonly path: string; readonly access: 'read' | 'write' }
  /** Where the process reports the id of its child, as JSON documents of bubblewrap's `--json-status-fd`. */
  | { readonly kind: 'status' }
  /** The child waits on it until it can read one byte: by then it is in its control group. */
  | { readonly kind: 'release' };

/** Paths of the machine. */
export interface MountClaims {
  /** Files and folders that the program can change. */
  readonly writes: readonly string[];
  /**
   * Where something is mounted inside another mount: hidden and frozen paths and the folders on the way to them. The
   * program itself cannot move or replace these.
   */
  readonly holds: readonly string[];
  /** Those of `holds` below which the program can change nothing. */
  readonly shuts: readonly string[];
  /** What was to be hidden or frozen and is not there: nothing is mounted, so nobody may put anything there meanwhile. */
  readonly misses: readonly string[];
}
