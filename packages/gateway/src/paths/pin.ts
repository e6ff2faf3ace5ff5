import type { BigIntStats, Stats } from 'node:fs';

/**
 * A file or folder held fast: checked and used are the same object, whatever happens to its name in between. Nothing
 * is opened for reading or writing yet, so devices do not act and nothing is truncated. Close it on every path.
 */
export interface Pin extends Disposable {
  /** For calls of `node:fs`: leads to the pinned object itself. */
  readonly path: string;
  /** For calls of `node:fs`: the entry `name` of the pinned folder. */
  readonly entry: (name: string) => string;
  /** What the object is called now. Throws Vanished when it has no name any more. */
  readonly readRealPath: () => string;
  readonly stat: () => Stats;
  readonly statExactly: () => BigIntStats;
  /** A descriptor for reading or writing this very object; never hangs on a FIFO. */
  readonly reopen: (flags: number) => number;
}

export interface PinOptions {
  /** `last-too`: a link as the last component is resolved; `not-last`: it is pinned itself. */
  readonly followLinks: 'last-too' | 'not-last';
  /** `folder`: anything else is ENOTDIR. */
  readonly expect: 'anything' | 'folder';
}

/** The object lost its name between opening and asking for it: deleted, or replaced by another file. */
export class Vanished extends Error {
  readonly code = 'ENOENT';
}

/** An entry is one component: anything else would leave the pinned folder. */
export function checkComponent(name: string): string {
  if (name === '' || name === '.' || name === '..' || name.includes('/') || name.includes('\0')) {
    throw new TypeError('not the name of a folder entry');
  }
  return name;
}
