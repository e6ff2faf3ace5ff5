import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { buildSdk, hashSdk } from '@sallyport/sdk/build';

/**
 * The SDK as plain JavaScript, for tools in the sandbox to import. Built once per version, below `folder`, which it
 * makes; returns the folder of the package itself. It is there whole or not at all, also after a crash, and several
 * daemons may ask at once. A version that is there is not looked at again: `folder` must be writable by the gate only.
 */
export function writeSdkRuntime(folder: string): string {
  const place = join(folder, hashSdk());
  if (existsSync(place)) return place;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const fresh = join(folder, `${randomUUID()}.new`);
  try {
    buildSdk(fresh);
    flushFolder(fresh);
    renameSync(fresh, place);
    flushFolder(folder);
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    // Somebody else was quicker, with the same bytes.
    if (!existsSync(place)) throw error;
  }
  return place;
}

function flushFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
