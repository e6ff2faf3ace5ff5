import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '@sallyport/sandbox';
import { hashBytes } from './content-hash.ts';

const keepPartialMs = 3_600_000;
const mostPerSession = 4;

/**
 * A place for an upload of one session and one declared hash. Held by one writer at a time; `release` must be called.
 */
export interface PartialUpload {
  readonly path: string;
  /** How many bytes an earlier attempt left. */
  readonly receivedBytes: number;
  readonly release: () => void;
}

/**
 * Uploads that were broken off and can be continued: by the session that began them, for an hour. They survive a
 * restart. A session keeps a few; a new one replaces the oldest.
 */
export class PartialUploads {
  readonly #folder: string;
  readonly #nowMs: () => number;
  readonly #held = new Set<string>();

  constructor(folder: string, nowMs: () => number) {
    this.#folder = folder;
    this.#nowMs = nowMs;
  }

  async receivedBytes(sessionId: string, hash: string): Promise<number> {
    const found = await this.#find(nameOf(sessionId, hash));
    return found === undefined || this.#isStale(found.mtimeMs) ? 0 : found.size;
  }

  /** Undefined while another upload of the same content by the same session is under way. */
  async claim(sessionId: string, hash: string): Promise<PartialUpload | undefined> {
    const name = nameOf(sessionId, hash);
    if (this.#held.has(name)) return undefined;
    this.#held.add(name);
    const release = (): void => void this.#held.delete(name);
    try {
      await this.dropStale();
      await this.#makeRoom(name);
      const receivedBytes = (await this.#find(name))?.size ?? 0;
      return { path: join(this.#folder, name), receivedBytes, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Removes what nobody continued in time. */
  async dropStale(): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      const found = await this.#find(name);
      if (found !== undefined && this.#isStale(found.mtimeMs)) await this.#drop(name);
    }
  }

  async #makeRoom(claimed: string): Promise<void> {
    const names = (await readdir(this.#folder)).filter((name) => name !== claimed && isSameSession(name, claimed));
    const ages = await Promise.all(names.map(async (name) => ({ name, at: (await this.#find(name))?.mtimeMs ?? 0 })));
    const oldestFirst = ages.sort((a, b) => a.at - b.at);
    for (const { name } of oldestFirst.slice(0, Math.max(0, names.length - mostPerSession + 1))) await this.#drop(name);
  }

  async #drop(name: string): Promise<void> {
    if (!this.#held.has(name)) await rm(join(this.#folder, name), { force: true });
  }

  async #find(name: string): Promise<{ readonly size: number; readonly mtimeMs: number } | undefined> {
    try {
      return await lstat(join(this.#folder, name));
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined;
      throw error;
    }
  }

  #isStale(mtimeMs: number): boolean {
    return this.#nowMs() - mtimeMs > keepPartialMs;
  }
}

const ownerDigits = 32;

/** It contains a digest of the session id, so any id gives a plain file name. */
function nameOf(sessionId: string, hash: string): string {
  return `${hashBytes(Buffer.from(sessionId)).slice(0, ownerDigits)}-${hash}`;
}

function isSameSession(name: string, other: string): boolean {
  return name.slice(0, ownerDigits) === other.slice(0, ownerDigits);
}
