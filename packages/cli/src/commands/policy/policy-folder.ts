import { join, resolve } from 'node:path';
import { readSourceFile, ruleFileNames } from '@sallyport/gateway';
import { usageFailure } from '../../client/failure.ts';

/**
 * The rule files of a folder as text. The daemon may not be able to reach it, or not see it as this person does, so what
 * is judged is what this person read.
 */
export function readRulesFolder(folder: string): { readonly folder: string; readonly files: Record<string, string> } {
  const from = resolve(folder);
  const files = ruleFileNames.flatMap((name) => {
    const { file, bytes, problem } = readSourceFile(join(from, name));
    if (problem !== undefined) throw usageFailure(`${file} ${problem}.`);
    return bytes === undefined ? [] : [[name, decode(file, bytes)] as const];
  });
  if (files.length === 0)
    throw usageFailure(`There are no rules in ${from}.`, `Rules are in ${ruleFileNames.join(', ')}.`);
  return { folder: from, files: Object.fromEntries(files) };
}

function decode(file: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw usageFailure(`${file} is not UTF-8 text.`);
  }
}
