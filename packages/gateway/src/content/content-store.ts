import { lstat, rm } from 'node:fs/promises';
import { KeyedLock } from '../call/keyed-lock.ts';
import { hasCode } from '@sallyport/sandbox';
import type { ContentRepository } from '../storage/stores.ts';
import { BlockHashes } from './block-hashes.ts';
import { collectGarbage } from './collect-garbage.ts';
import type { GarbageReport } from './collect-garbage.ts';
import { failureOfWriting, noSuchContent } from './content-failures.ts';
import { ContentFiles } from './content-files.ts';
import { ContentReader } from './content-reader.ts';
import { PartialUploads } from './partial-uploads.ts';
import { receiveUpload } from './receive-upload.ts';
import type { Upload, UploadLimits } from './receive-upload.ts';
import { verifyContent } from './verify-content.ts';
import type { ContentReport } from './verify-content.ts';

export interface ContentStoreOptions extends Partial<UploadLimits> {
  readonly folder: string;
  readonly index: Pick<ContentRepository, 'recordContent' | 'listContent' | 'forgetContent'>;
  readonly nowMs?: () => number;
}

export interface StoredContent {
  readonly hash: string;
  readonly sizeBytes: number;
}

const mebibyte = 1024 * 1024;
const defaultLimits: UploadLimits = {
  keepFreeBytes: 128 * mebibyte,
  maxContentBytes: 4096 * mebibyte,
  idleMs: 60_000,
};
const neverAborts = new AbortController().signal;

/**
 * Content by its BLAKE3 hash, in files. One daemon owns the folder; all methods may be called concurrently.
 *
 * Durability: when `put` resolves, the bytes and their entry in the index survive kill -9 and power loss. Before
 * that nothing of them is visible. Memory: a block or two a transfer, whatever its size.
 *
 * Failure: throws ToolFailure for what a caller can act on, such as DISK_FULL, CONTENT_MISMATCH and NOT_FOUND.
 */
export class ContentStore {
  readonly #files: ContentFiles;
  readonly #index: ContentStoreOptions['index'];
  readonly #limits: UploadLimits;
  readonly #nowMs: () => number;
  readonly #partials: PartialUploads;
  readonly #known = new BlockHashes();
  readonly #locks = new KeyedLock();

  private constructor(files: ContentFiles, { index, nowMs = Date.now, ...limits }: ContentStoreOptions) {
    this.#files = files;
    this.#index = index;
    this.#limits = { ...defaultLimits, ...limits };
    this.#nowMs = nowMs;
    this.#partials = new PartialUploads(files.partialFolder, nowMs);
  }

  static async open(options: ContentStoreOptions): Promise<ContentStore> {
    const store = new ContentStore(await ContentFiles.open(options.folder), options);
    await store.#partials.dropStale();
    return store;
  }

  /** Content that is there already is replaced by the same bytes, which repairs it if it was damaged. */
  async put(upload: Upload): Promise<StoredContent> {
    const parts = { files: this.#files, partials: this.#partials, limits: this.#limits };
    try {
      return await receiveUpload(upload, parts, (path, stored) =>
        this.#whileHeld(stored.hash, async () => {
          await this.#files.place(path, stored.hash);
          await this.#index.recordContent({ sessionId: upload.sessionId, ...stored, nowMs: this.#nowMs() });
        }),
      );
    } catch (error) {
      throw failureOfWriting(error);
    }
  }

  /** Throws NOT_FOUND or CONTENT_CORRUPTED. Reads all of the content unless it was read lately. */
  async open(hash: string, signal: AbortSignal): Promise<ContentReader> {
    const reader = await ContentReader.open(this.#files.pathOf(hash), hash, this.#known, signal);
    // Content on a disk that cannot be written can still be read.
    await reader.touch(this.#nowMs()).catch(() => undefined);
    return reader;
  }

  /** Undefined when there is no such content. Looks at no byte of it. */
  async sizeOf(hash: string): Promise<number | undefined> {
    try {
      return (await lstat(this.#files.pathOf(hash))).size;
    } catch (error) {
      if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
      throw error;
    }
  }

  /** How much of an unfinished upload is here. 0: none, or too old to be continued. */
  receivedBytes(sessionId: string, hash: string): Promise<number> {
    return this.#partials.receivedBytes(sessionId, hash);
  }

  /** Runs the work while the content cannot be collected, so that a reference to it can be made. Throws NOT_FOUND. */
  hold<T>(hash: string, work: (content: StoredContent) => Promise<T>): Promise<T> {
    return this.#whileHeld(hash, async () => {
      const sizeBytes = await this.sizeOf(hash);
      if (sizeBytes === undefined) throw noSuchContent(hash);
      return work({ hash, sizeBytes });
    });
  }

  /** Removes content that nothing references and nobody has used for this long, and uploads that nobody continued. */
  async collectGarbage(
    { olderThanMs }: { readonly olderThanMs: number },
    signal: AbortSignal = neverAborts,
  ): Promise<GarbageReport> {
    await this.#partials.dropStale();
    const whileHeld = <T>(hash: string, work: () => Promise<T>): Promise<T> => this.#whileHeld(hash, work);
    const parts = { files: this.#files, index: this.#index, whileHeld, signal };
    return collectGarbage(parts, this.#nowMs() - olderThanMs);
  }

  /** Removes the content, unless something permanent refers to it, such as an artifact. */
  async erase(hash: string): Promise<void> {
    await this.#whileHeld(hash, async () => {
      if (await this.#index.forgetContent(hash)) await rm(this.#files.pathOf(hash), { force: true });
    });
  }

  /** Removes files without an entry in the index, which a crash can leave. */
  async dropUnknown(): Promise<void> {
    const readKnown = async () => new Set((await this.#index.listContent()).map((content) => content.hash));
    const known = await readKnown();
    for await (const { hash } of this.#files.list()) {
      if (known.has(hash)) continue;
      await this.#whileHeld(hash, async () => {
        // It may have been put meanwhile.
        if (!(await readKnown()).has(hash)) await rm(this.#files.pathOf(hash), { force: true });
      });
    }
  }

  /** Reads everything and says what is damaged or gone. */
  verify(signal: AbortSignal = neverAborts): Promise<ContentReport> {
    return verifyContent({ files: this.#files, index: this.#index, signal });
  }

  /** One at a time for each hash, so that putting, referencing and collecting never overlap. */
  async #whileHeld<T>(hash: string, work: () => Promise<T>): Promise<T> {
    const release = await this.#locks.acquire(hash, neverAborts);
    try {
      return await work();
    } finally {
      release?.();
    }
  }
}
