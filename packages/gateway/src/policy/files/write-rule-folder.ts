import { cpSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ConfigError } from '../../call/fault.ts';
import type { RuleFile } from './rule-files.ts';

/**
 * Makes a folder of rules: these files, and from the shipped folder whatever else lies beside them. It is there whole or
 * not at all. Returns the names of the files. Throws ConfigError when it already exists.
 */
export function writeRuleFolder(shipped: string, target: string, files: readonly RuleFile[]): readonly string[] {
  if (statSync(target, { throwIfNoEntry: false }) !== undefined) {
    throw new ConfigError(`${target} already exists.`, 'Edit the files there, or move the folder away.');
  }
  // A rename puts it in place, so it must lie on the same disk.
  const draft = mkdtempSync(join(dirname(target), '.governance-'));
  try {
    cpSync(shipped, draft, { recursive: true });
    for (const { name, bytes } of files)
      if (bytes !== undefined) writeFileSync(join(draft, name), bytes, { flush: true });
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
  return files.flatMap(({ name, bytes }) => (bytes === undefined ? [] : [name]));
}
