import { lstatSync, watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';

export interface WatchOptions {
  readonly folders: readonly string[];
  /** Looks at the folders. Resolves to true when something was being written, so that another look is due soon. */
  readonly look: () => Promise<boolean>;
  readonly onError: (error: unknown) => void;
  /** How long to wait for more after a first sign of a change. */
  readonly settleMs?: number;
  /** How often to look without any sign: signs get lost, and not every file system gives them. */
  readonly backstopMs?: number;
}

/**
 * Looks at folders whenever something in them changes. Never throws: a folder that is gone is watched again as soon as
 * it is back, at the latest after `backstopMs`.
 */
export class FolderWatch {
  readonly #options: Required<WatchOptions>;
  readonly #watchers = new Map<string, { readonly watcher: FSWatcher; readonly id: string }>();
  readonly #backstop: NodeJS.Timeout;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: WatchOptions) {
    this.#options = { settleMs: 100, backstopMs: 30_000, ...options };
    this.#backstop = setInterval(() => this.#lookSoon(), this.#options.backstopMs).unref();
    // The look before may have missed what happened since, or seen something half done.
    if (this.#watchAll()) this.#lookSoon();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#backstop);
    clearTimeout(this.#timer);
    for (const { watcher } of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  /** Once for all signs that come close together. */
  #lookSoon(): void {
    if (this.#isClosed || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => void this.#look(), this.#options.settleMs).unref();
  }

  async #look(): Promise<void> {
    this.#timer = undefined;
    try {
      if (await this.#options.look()) this.#lookSoon();
    } catch (error) {
      this.#options.onError(error);
    }
    if (!this.#isClosed && this.#watchAll()) this.#lookSoon();
  }

  /** True when a folder was not watched before: what happened in it meanwhile is not known. */
  #watchAll(): boolean {
    const begun = this.#options.folders.map((folder) => this.#watchFolder(folder));
    return begun.includes(true);
  }

  #watchFolder(folder: string): boolean {
    const id = identify(folder);
    const known = this.#watchers.get(folder);
    if (known !== undefined && known.id === id) return false;
    known?.watcher.close();
    this.#watchers.delete(folder);
    if (id === undefined) return false;
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#lookSoon());
      watcher.on('error', () => this.#lookSoon());
      this.#watchers.set(folder, { watcher, id });
      return true;
    } catch (error) {
      this.#options.onError(error);
      return false;
    }
  }
}

/** A folder that was removed and made again is another one, also where it gets the same number. */
function identify(folder: string): string | undefined {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  return stats?.isDirectory() ? `${stats.dev}:${stats.ino}:${stats.birthtimeMs}` : undefined;
}
