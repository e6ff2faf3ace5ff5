import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { ruleFileNames } from './rule.ts';

export const maxFileBytes = 1024 * 1024;

/** One of the files that make up a set of rules. */
export interface RuleFile extends SourceFile {
  readonly name: (typeof ruleFileNames)[number];
}

/** A file of configuration, read once: what is hashed, kept and compiled are the same bytes. */
export interface SourceFile {
  /** The whole path. */
  readonly file: string;
  /** Absent: there is no such file, or it cannot be read. */
  readonly bytes?: Uint8Array;
  /** Why it cannot be read. */
  readonly problem?: string;
}

/** All files that make up a set of rules, in their order. Never throws for what is wrong with one. */
export function readRuleFiles(folder: string): readonly RuleFile[] {
  return ruleFileNames.map((name) => ({ name, ...readSourceFile(join(folder, name)) }));
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

/** Names and lengths are part of it, so that no two different sets of files give the same bytes to hash. */
export function hashRuleFiles(files: readonly RuleFile[]): string {
  const hash = createHash('sha256');
  for (const { name, bytes, problem } of files) {
    hash.update(`${name} ${problem ?? bytes?.length ?? 'absent'}\n`);
    if (bytes !== undefined) hash.update(bytes);
  }
  return hash.digest('hex');
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
