import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { ConfigError } from '../../call/fault.ts';

/**
 * Reads a secret, creating it first if it is not there. The file appears whole or not at all, also after a crash,
 * and is readable by its owner only; one that others could read is refused.
 */
export function readOrCreateSecret(file: string, create: () => string): string {
  const existing = readSecret(file);
  if (existing !== undefined) return existing;
  const secret = create();
  const fresh = `${file}.${process.pid}.new`;
  try {
    writeDurably(fresh, `${secret}\n`);
    // link, unlike rename, does not replace a file that another process has just made
    linkSync(fresh, file);
  } finally {
    rmSync(fresh, { force: true });
  }
  syncFolder(dirname(file));
  return secret;
}

/** Undefined when there is no such file. */
export function readSecret(file: string): string | undefined {
  let secret: string;
  try {
    if ((statSync(file).mode & 0o077) !== 0) {
      throw new ConfigError(`Other users can read ${file}.`, `Run: chmod 600 '${file}'`);
    }
    secret = readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  if (secret === '') throw new ConfigError(`${file} is empty.`, 'Restore it from a backup, or remove it.');
  return secret;
}

/** Replaces a secret. After a crash the file contains the old secret or the new one, whole. */
export function replaceSecret(file: string, secret: string): void {
  const fresh = `${file}.${process.pid}.new`;
  writeDurably(fresh, `${secret}\n`);
  renameSync(fresh, file);
  syncFolder(dirname(file));
}

function writeDurably(file: string, text: string): void {
  const descriptor = openSync(file, 'w', 0o600);
  try {
    writeSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
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
