import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

export const maxFileBytes = 1024 * 1024;

/** A file of configuration, read once: what is hashed, kept and compiled are the same bytes. */
export interface SourceFile {
  /** The whole path. */
  readonly file: string;
  /** Absent: there is no such file, or it cannot be read. */
  readonly bytes?: Uint8Array;
  /** Why it cannot be read. */
  readonly problem?: string;
}

export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Something in a file that keeps it from being used. */
export interface Problem extends Position {
  readonly file: string;
  readonly message: string;
}

/** Never throws: what is wrong with the file is in the answer. */
export function readSourceFile(file: string): SourceFile {
  try {
    const bytes = readBounded(file);
    return { file, ...(bytes === undefined ? {} : { bytes }) };
  } catch (error) {
    return { file, problem: `cannot be read: ${error instanceof Error ? error.message : 'unknown error'}` };
  }
}

/** Undefined: no such file. Opens without waiting, so that a pipe in its place cannot hold up the start. */
function readBounded(file: string): Uint8Array | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    if (!fstatSync(descriptor).isFile()) throw new Error('is not a regular file');
    // One byte more than allowed tells a file that grew meanwhile from one that fits.
    const buffer = new Uint8Array(maxFileBytes + 1);
    let length = 0;
    for (;;) {
      const count = readSync(descriptor, buffer, length, buffer.length - length, null);
      length += count;
      if (length > maxFileBytes) throw new Error('is larger than 1 MB');
      if (count === 0) return buffer.slice(0, length);
    }
  } finally {
    closeSync(descriptor);
  }
}
