import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';

/** The file holds the old text or the new one, also after a crash, and is for its owner only. */
export function writeFileAtomically(file: string, text: string): void {
  const fresh = `${file}.${process.pid}.new`;
  const descriptor = openSync(fresh, 'w', 0o600);
  try {
    try {
      writeSync(descriptor, text);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(fresh, file);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}
