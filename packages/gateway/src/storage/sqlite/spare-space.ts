import { closeSync, existsSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import type { WriterOptions } from './writer.ts';

type SpareSpace = Pick<WriterOptions, 'reserveFile' | 'reserveBytes' | 'isReopened'>;

/** After a seal there must be room for it again: the space that the seal freed must not be used to open the log. */
export function setSpaceAside({ reserveFile, reserveBytes, isReopened }: SpareSpace): void {
  if (reserveBytes === 0 || existsSync(reserveFile)) return;
  const descriptor = openSync(reserveFile, 'w', 0o600);
  try {
    // Zeros would take no space on some file systems; a pattern does.
    writeSync(descriptor, Buffer.alloc(reserveBytes, 'sallyport'));
    fsyncSync(descriptor);
  } catch (error) {
    rmSync(reserveFile, { force: true });
    if (isReopened) throw error;
  } finally {
    closeSync(descriptor);
  }
}

export function giveUpSpace({ reserveFile }: SpareSpace): void {
  rmSync(reserveFile, { force: true });
}
