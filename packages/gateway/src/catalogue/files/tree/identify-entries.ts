import { createHash } from 'node:crypto';
import { lstatSync, statSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import type { OpenFolder } from '../../../paths/open-path.ts';

/** Of a file: the same one, and nobody has written to it. Of a folder: the same one; what is in it has its own identity. */
export function identify(stats: BigIntStats | undefined): string {
  if (stats === undefined) return 'none';
  const { dev, ino, size, mtimeNs, ctimeNs } = stats;
  return stats.isDirectory() ? `folder ${dev}:${ino}` : `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}

export function identifyEntry(folder: OpenFolder, name: string): string {
  return identify(lstatSync(folder.entry(name), { bigint: true, throwIfNoEntry: false }));
}

export function identifyFolder(folder: OpenFolder): string {
  return identify(statSync(folder.path, { bigint: true }));
}

/** Whether it is the same entry with the same content. A rename by ourselves changes the ctime, so it does not count. */
export function isSameEntry(now: BigIntStats | undefined, before: BigIntStats): boolean {
  if (now === undefined || now.dev !== before.dev || now.ino !== before.ino) return false;
  return before.isDirectory() || (now.size === before.size && now.mtimeNs === before.mtimeNs);
}

/** Tells whether entries are still the same files with the same content: consent is given for those, not for names. */
export class EntryIdentities {
  readonly #hash = createHash('sha256');

  add(path: string, identity: string): void {
    this.#hash.update(`${path}\0${identity}\0`);
  }

  /** Call it once, at the end. */
  digest(): string {
    return this.#hash.digest('hex');
  }
}
