import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** The file holds the old text or the new one, also after a crash, and is for its owner only. */
export function writeFileAtomically(file: string, text: string | Uint8Array): void {
  const fresh = `${file}.${process.pid}.new`;
  const descriptor = openSync(fresh, 'w', 0o600);
  try {
    try {
      writeFileSync(descriptor, text);
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
