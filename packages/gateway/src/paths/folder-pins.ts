import { closeSync, constants, openSync } from 'node:fs';
import { isWithin } from '@sallyport/sandbox';

/** The same number on every Linux that Node runs on, and missing from `fs.constants`. */
const O_PATH = 0o10000000;
const most = 64;
const keepMs = 1000;
/** Where opening a file may do something; not in the memory that programs share. */
const special = ['/dev', '/proc', '/sys'];
const shared = '/dev/shm';

/**
 * Folders that stay open for a moment, so that the next file in them is opened without walking the whole path. They are
 * few, and none is held for longer than a second or two: a folder that is held cannot be unmounted.
 */
export class FolderPins {
  readonly #descriptors = new Map<string, number>();
  readonly #keepMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: { readonly keepMs?: number } = {}) {
    this.#keepMs = options.keepMs ?? keepMs;
  }

  get size(): number {
    return this.#descriptors.size;
  }

  /** An O_PATH descriptor of the folder that had this path when it was opened. Undefined: none is open. */
  find(folder: string): number | undefined {
    return this.#descriptors.get(folder);
  }

  /** Opens the folder for those who come next. Does nothing where that fails: they take the long way. */
  keep(folder: string): void {
    if (this.#descriptors.size >= most || isSpecial(folder)) return;
    try {
      this.#descriptors.set(folder, openSync(folder, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW));
    } catch {
      return;
    }
    this.#timer ??= setTimeout(() => this.close(), this.#keepMs).unref();
  }

  drop(folder: string): void {
    const descriptor = this.#descriptors.get(folder);
    if (descriptor === undefined) return;
    this.#descriptors.delete(folder);
    closeSync(descriptor);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const folder of [...this.#descriptors.keys()]) this.drop(folder);
  }
}

function isSpecial(folder: string): boolean {
  return special.some((root) => isWithin(root, folder)) && !isWithin(shared, folder);
}
