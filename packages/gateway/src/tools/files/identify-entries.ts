import { createHash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import type { OpenFolder } from '../../sandbox/open-path.ts';

/** Tells whether entries are still the same files with the same content: consent is given for those, not for names. */
export class EntryIdentities {
  readonly #hash = createHash('sha256');

  add(folder: OpenFolder, name: string, path = name): void {
    const stats = lstatSync(folder.entry(name), { bigint: true, throwIfNoEntry: false });
    const identity = stats === undefined ? 'gone' : `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}`;
    this.#hash.update(`${path}\0${identity}\0`);
  }

  /** Call it once, at the end. */
  digest(): string {
    return this.#hash.digest('hex');
  }
}
