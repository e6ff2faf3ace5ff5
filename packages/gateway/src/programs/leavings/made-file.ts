import { createHash } from 'node:crypto';
import { closeSync, constants, createReadStream, fstatSync, lstatSync, openSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import type { Change } from '../../call/journal.ts';
import type { Vouched } from '../../call/sweep.ts';

type MadeFile = Extract<Vouched, { readonly kind: 'file' }>;

/**
 * Which file it is, who may write to it, and how long it is. A rename changes nothing of that, and neither does a change
 * of times. Programs cannot choose when a file came into being, so that another one at the same place differs.
 */
export function identifyMade({ dev, ino, birthtimeNs, mode, uid, gid, size }: BigIntStats): string {
  return [dev, ino, birthtimeNs, mode, uid, gid, size].join(':');
}

/** What there is after a change by the gate. Undefined: nothing that could be told from the work of a program later. */
export function vouchFor({ path, after }: Change): Vouched | undefined {
  if (after.kind === 'folder') return { kind: 'folder' };
  if (after.kind !== 'file' || after.sha256 === undefined) return undefined;
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  const isThere = stats?.isFile() === true && Number(stats.mode & 0o7777n) === after.mode;
  return isThere ? { kind: 'file', identity: identifyMade(stats), sha256: after.sha256 } : undefined;
}

/**
 * Whether it is the file that the gate made, with the same content and no other name under which it could be changed
 * later. Neither follows a link nor waits for somebody to write.
 */
export async function isAsMade(path: Buffer | string, { identity, sha256 }: MadeFile): Promise<boolean> {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return false;
  }
  try {
    const isSame = (): boolean => {
      const stats = fstatSync(fd, { bigint: true });
      return stats.isFile() && stats.nlink === 1n && identifyMade(stats) === identity;
    };
    if (!isSame()) return false;
    const hash = createHash('sha256');
    for await (const chunk of createReadStream('', { fd, autoClose: false })) hash.update(chunk as Buffer);
    return hash.digest('hex') === sha256 && isSame();
  } catch {
    return false;
  } finally {
    closeSync(fd);
  }
}
