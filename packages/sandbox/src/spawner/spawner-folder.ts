import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isOfDeadProcess, nameAfterProcess } from './name-after-process.ts';

const { O_CREAT, O_EXCL, O_RDONLY, O_RDWR } = constants;

/** In memory where the machine has such a folder: what is here never outlives a start of a program by much. */
const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** A folder of this process alone. Files get a name in it only to be opened, and lose it at once. */
export class SpawnerFolder {
  readonly path = join(parent, nameAfterProcess());
  #count = 0;
  readonly #constants = new Map<Uint8Array, number>();

  create(): void {
    mkdirSync(this.path, { mode: 0o700 });
  }

  /** Folders of spawners that were killed, and whose janitor was killed too. */
  static findStale(): readonly string[] {
    return readdirSync(parent)
      .filter(isOfDeadProcess)
      .map((name) => join(parent, name))
      .filter((path) => {
        const stats = lstatSync(path, { throwIfNoEntry: false });
        return stats?.isDirectory() === true && stats.uid === process.getuid?.();
      });
  }

  /**
   * A descriptor from which exactly these bytes can be read. Anyone who has it may open it again by its name in `/proc`,
   * under whatever user; nobody else has a way to it.
   */
  openBytes(bytes: Uint8Array): number {
    if (bytes.length === 0) return openSync('/dev/null', O_RDONLY);
    const { reading, writing } = this.openEmpty();
    try {
      writeAll(writing, bytes);
      return reading;
    } finally {
      closeSync(writing);
    }
  }

  /**
   * The same for bytes that never change, from one file: only the descriptor is new. Not for what a program gets itself,
   * because the owner of a file may change it, and that can be the program's user.
   */
  openConstant(bytes: Uint8Array): number {
    const kept = this.#constants.get(bytes) ?? this.openBytes(bytes);
    this.#constants.set(bytes, kept);
    return openSync(`/proc/self/fd/${kept}`, O_RDONLY);
  }

  /** Two descriptors of a file that is empty and nobody else's. What is written to the one can be read from the other. */
  openEmpty(): { readonly reading: number; readonly writing: number } {
    this.#count += 1;
    const path = join(this.path, `bytes-${this.#count}`);
    const writing = openSync(path, O_CREAT | O_EXCL | O_RDWR, 0o444);
    try {
      return { reading: openSync(path, O_RDONLY), writing };
    } catch (error) {
      closeSync(writing);
      throw error;
    } finally {
      unlinkSync(path);
    }
  }
}

/** To a file, which takes everything or fails. */
export function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
}
