import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { ConfigError } from '../model/fault.ts';

/**
 * Reads a secret, creating it first if it is not there. The file appears whole or not at all, also after a crash,
 * and is readable by its owner only; one that others could read is refused.
 */
export function readOrCreateSecret(file: string, create: () => string): string {
  const existing = readSecret(file);
  if (existing !== undefined) return existing;
  const secret = create();
  const fresh = `${file}.${process.pid}.new`;
  const descriptor = openSync(fresh, 'w', 0o600);
  try {
    writeSync(descriptor, `${secret}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  // link, unlike rename, does not replace a file that another process has just made
  linkSync(fresh, file);
  rmSync(fresh);
  syncFolder(dirname(file));
  return secret;
}

export function readSecret(file: string): string | undefined {
  try {
    if ((statSync(file).mode & 0o077) !== 0) {
      throw new ConfigError(`Other users can read ${file}.`, `Run: chmod 600 ${file}`);
    }
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
