import { closeSync, fstatSync, openSync, renameSync, write } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { Writable } from 'node:stream';

export interface Rotation {
  /** A file that has reached this much is set aside. */
  readonly maxBytes: number;
  /** How many older files are kept, `FILE.1` the newest of them. */
  readonly kept: number;
}

const usualRotation: Rotation = { maxBytes: 10 * 1024 * 1024, kept: 4 };

type Done = (error?: Error | null) => void;

/** A log file that does not grow for ever. It is readable by its owner only. One process writes to it. */
export class RotatingFile extends Writable {
  readonly #path: string;
  readonly #rotation: Rotation;
  #descriptor: number | undefined;
  #bytes = 0;
  /** Resolves when what is on its way to the disk is there. */
  #written: Promise<void> = Promise.resolve();
  /** Absent: nobody takes lines out. */
  #editing: Promise<void> | undefined;

  constructor(path: string, rotation: Rotation = usualRotation) {
    super({ decodeStrings: true });
    this.#path = path;
    this.#rotation = rotation;
  }

  /** Takes lines out of this file and of the older ones. What is written meanwhile waits. Rejects when it could not. */
  dropLines(isDropped: (line: string) => boolean): Promise<void> {
    const before = this.#editing ?? Promise.resolve();
    const editing = before.then(() => this.#written).then(() => this.#dropLines(isDropped));
    const settled: Promise<void> = editing
      .catch(() => undefined)
      .finally(() => {
        if (this.#editing === settled) this.#editing = undefined;
      });
    this.#editing = settled;
    return editing;
  }

  override _construct(done: Done): void {
    attempt(() => this.#open(), done);
  }

  override _write(chunk: Buffer, _encoding: string, done: Done): void {
    this.#take(chunk, done);
  }

  /** What gathered meanwhile goes to the disk at once. */
  override _writev(chunks: { readonly chunk: Buffer }[], done: Done): void {
    this.#take(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _destroy(error: Error | null, done: Done): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
    done(error);
  }

  #take(chunk: Buffer, done: Done): void {
    if (this.#editing !== undefined) {
      void this.#editing.then(() => this.#take(chunk, done));
      return;
    }
    try {
      if (this.#bytes >= this.#rotation.maxBytes) this.#rotate();
    } catch (error) {
      return done(error as Error);
    }
    this.#bytes += chunk.length;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#written = promise;
    this.#append(chunk, (error) => {
      resolve();
      done(error);
    });
  }

  #append(chunk: Buffer, done: Done): void {
    write(this.#descriptor ?? -1, chunk, 0, chunk.length, null, (error, written) => {
      if (error !== null || written === chunk.length) done(error);
      else this.#append(chunk.subarray(written), done);
    });
  }

  #open(): void {
    this.#descriptor = openSync(this.#path, 'a', 0o600);
    this.#bytes = fstatSync(this.#descriptor).size;
  }

  async #dropLines(isDropped: (line: string) => boolean): Promise<void> {
    for (let number = this.#rotation.kept; number >= 0; number--) {
      const name = this.#nameOf(number);
      const text = await readFile(name, 'utf8').catch(ignoreMissing);
      const lines = text.split('\n');
      const left = lines.filter((line) => !isDropped(line));
      if (left.length === lines.length) continue;
      await writeFile(`${name}.new`, left.join('\n'), { mode: 0o600 });
      renameSync(`${name}.new`, name);
      if (number > 0 || this.#descriptor === undefined) continue;
      closeSync(this.#descriptor);
      this.#open();
    }
  }

  #nameOf(number: number): string {
    return number === 0 ? this.#path : `${this.#path}.${number}`;
  }

  #rotate(): void {
    const name = (number: number): string => this.#nameOf(number);
    for (let number = this.#rotation.kept; number > 0; number--) {
      try {
        renameSync(name(number - 1), name(number));
      } catch {
        // There are not that many yet.
      }
    }
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#open();
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return '';
  throw error;
}

function attempt(work: () => void, done: Done): void {
  try {
    work();
    done();
  } catch (error) {
    done(error as Error);
  }
}
