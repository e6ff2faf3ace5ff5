import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { ruleFileNames } from '../language/rule.ts';
import { readSourceFile } from '../../text/source-file.ts';
import type { SourceFile } from '../../text/source-file.ts';

/** One of the files that make up a set of rules. */
export interface RuleFile extends SourceFile {
  readonly name: (typeof ruleFileNames)[number];
}

/** All files that make up a set of rules, in their order. Never throws for what is wrong with one. */
export function readRuleFiles(folder: string): readonly RuleFile[] {
  return ruleFileNames.map((name) => ({ name, ...readSourceFile(join(folder, name)) }));
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
