import { randomUUID } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { mkdir, open, opendir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '@sallyport/sandbox';
import { isContentHash } from './content-hash.ts';

export interface ContentFile {
  readonly hash: string;
  readonly path: string;
}

/**
 * Where content is stored: `ab/cdef…` by its hash, complete and final; `staging/` for what is being written and
 * `partial/` for uploads that can be continued. One daemon owns the folder.
 */
export class ContentFiles {
  readonly folder: string;
  readonly partialFolder: string;
  readonly #stagingFolder: string;
  /** Folders that this process made and that are known to be on disk. */
  readonly #durable = new Map<string, Promise<void>>();

  private constructor(folder: string) {
    this.folder = folder;
    this.partialFolder = join(folder, 'partial');
    this.#stagingFolder = join(folder, 'staging');
  }

  /** Files in staging were cut off by a crash. Nobody can continue them, so they are removed. */
  static async open(folder: string): Promise<ContentFiles> {
    const files = new ContentFiles(folder);
    await rm(files.#stagingFolder, { recursive: true, force: true });
    for (const each of [folder, files.#stagingFolder, files.partialFolder]) {
      await mkdir(each, { recursive: true, mode: 0o700 });
    }
    return files;
  }

  /** Throws on anything but a hash, so that no text from outside becomes part of a path. */
  pathOf(hash: string): string {
    if (!isContentHash(hash)) throw new TypeError('not a content hash');
    return join(this.folder, hash.slice(0, 2), hash.slice(2));
  }

  newStagingPath(): string {
    return join(this.#stagingFolder, randomUUID());
  }

  /** Gives a finished and synced file its name. Atomic; durable when it resolves. Replaces what had the name. */
  async place(stagedPath: string, hash: string): Promise<void> {
    const path = this.pathOf(hash);
    const folder = join(path, '..');
    await this.#makeDurable(folder);
    await rename(stagedPath, path);
    await syncFolder(folder);
  }

  /** All content, in no order. Files with other names are not ours and are skipped. */
  async *list(): AsyncGenerator<ContentFile> {
    for await (const folder of entriesOf(this.folder)) {
      if (!folder.isDirectory() || folder.name.length !== 2) continue;
      for await (const { name } of entriesOf(join(this.folder, folder.name))) {
        const hash = folder.name + name;
        if (isContentHash(hash)) yield { hash, path: this.pathOf(hash) };
      }
    }
  }

  /** Concurrent callers wait for the same sync: none may rely on a folder that is not on disk yet. */
  #makeDurable(folder: string): Promise<void> {
    const known = this.#durable.get(folder);
    if (known !== undefined) return known;
    const made = mkdir(folder, { recursive: true, mode: 0o700 }).then(() => syncFolder(this.folder));
    this.#durable.set(folder, made);
    made.catch(() => this.#durable.delete(folder));
    return made;
  }
}

async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, 'r');
  await handle.sync();
}

/** A folder that goes away while it is read has no more entries. */
async function* entriesOf(folder: string): AsyncGenerator<Dirent> {
  try {
    yield* await opendir(folder);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}
