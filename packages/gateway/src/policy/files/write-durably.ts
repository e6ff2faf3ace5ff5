import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export interface PlacedBytes {
  readonly file: string;
  readonly bytes: Uint8Array;
}

/** The old file or the new one is there at any moment, never a part of one. */
export function writeDurably({ file, bytes }: PlacedBytes, mode: number): void {
  const draft = `${file}.new`;
  const descriptor = openSync(draft, 'w', mode);
  try {
    writeFileSync(descriptor, bytes);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(draft, file);
  const folder = openSync(dirname(file), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
