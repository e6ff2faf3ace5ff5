import { closeSync, fstatSync, openSync, renameSync, write } from 'node:fs';
import { Writable } from 'node:stream';

export interface Rotation {
  /** A file that has reached this much is set aside. */
  readonly maxBytes: number;
  /** How many older files are kept, `FILE.1` the newest of them. */
  readonly kept: number;
}

export const usualRotation: Rotation = { maxBytes: 10 * 1024 * 1024, kept: 4 };

type Done = (error?: Error | null) => void;

/** A log file that does not grow for ever. It is readable by its owner only. One process writes to it. */
export class RotatingFile extends Writable {
  readonly #path: string;
  readonly #rotation: Rotation;
  #descriptor: number | undefined;
  #bytes = 0;

  constructor(path: string, rotation: Rotation = usualRotation) {
    super({ decodeStrings: true });
    this.#path = path;
    this.#rotation = rotation;
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
    try {
      if (this.#bytes >= this.#rotation.maxBytes) this.#rotate();
    } catch (error) {
      return done(error as Error);
    }
    this.#bytes += chunk.length;
    this.#append(chunk, done);
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

  #rotate(): void {
    const name = (number: number): string => (number === 0 ? this.#path : `${this.#path}.${number}`);
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

function attempt(work: () => void, done: Done): void {
  try {
    work();
    done();
  } catch (error) {
    done(error as Error);
  }
}
