import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  futimesSync,
  linkSync,
  openSync,
  renameSync,
  statSync,
  unlinkSync,
} from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { hasCode } from '@sallyport/sandbox';
import type { OpenFolder } from '../../paths/open-path.ts';

const permissionBits = 0o777;

/** A file under construction, in the folder where it will appear. Disposing of it removes what was not published. */
export class Draft implements Disposable {
  readonly fd: number;
  readonly #entry: string;
  #published = false;

  /** `former` is the file to be replaced: the draft gets its mode and, where the system allows it, its owner. */
  constructor(folder: OpenFolder, former: BigIntStats | undefined) {
    this.#entry = folder.entry(hiddenName());
    const mode = former === undefined ? 0o666 : Number(former.mode) & permissionBits;
    const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
    this.fd = openSync(this.#entry, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    try {
      if (former === undefined) handOver(this.fd, folder);
      else resemble(this.fd, former, mode);
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /** Takes the place of whatever has this name. Atomic: at every moment there is the old file or the new one. */
  replace(entry: string): void {
    renameSync(this.#entry, entry);
    this.#published = true;
  }

  /** Takes a name that is free, or fails with EEXIST. */
  appear(entry: string): void {
    moveToFreeName(this.#entry, entry);
    this.#published = true;
  }

  [Symbol.dispose](): void {
    closeSync(this.fd);
    if (!this.#published) removeIfThere(this.#entry);
  }
}

/** A name for something in between, which listings hide. */
export function hiddenName(): string {
  return `.sallyport-${randomBytes(9).toString('base64url')}`;
}

/**
 * Renames a file unless the new name is taken (EEXIST). Node has no renameat2, so a second link is made and the first
 * removed; a crash in between leaves both names, never none.
 */
export function moveToFreeName(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (!hasCode(error, 'EPERM', 'EOPNOTSUPP', 'ENOTSUP', 'ENOSYS', 'EMLINK')) throw error;
    // No hard links here: an empty file reserves the name, and for a moment it can be seen.
    closeSync(openSync(to, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL));
    return renameSync(from, to);
  }
  removeIfThere(from);
}

export function removeIfThere(entry: string): void {
  try {
    unlinkSync(entry);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

/** What root makes in somebody's folder is theirs, so that they, and programs that run as they do, can go on with it. */
function handOver(fd: number, folder: OpenFolder): void {
  if (process.geteuid?.() !== 0) return;
  const { uid, gid } = statSync(folder.path);
  if (uid !== 0) fchownSync(fd, uid, gid);
}

/** Node takes seconds as a fraction and cuts them to microseconds; half of one more makes up for the rounding. */
export function setTimes(
  fd: number,
  { atimeUs, mtimeUs }: { readonly atimeUs: number; readonly mtimeUs: number },
): void {
  futimesSync(fd, inSeconds(atimeUs), inSeconds(mtimeUs));
}

function inSeconds(microseconds: number): number {
  return (microseconds + 0.5) / 1_000_000;
}

function resemble(fd: number, former: BigIntStats, mode: number): void {
  const { uid, gid } = fstatSync(fd, { bigint: true });
  if (uid !== former.uid || gid !== former.gid) {
    try {
      fchownSync(fd, Number(former.uid), Number(former.gid));
    } catch (error) {
      // Only root gives files away; for everyone else the new file is their own.
      if (!hasCode(error, 'EPERM')) throw error;
    }
  }
  fchmodSync(fd, mode);
}
