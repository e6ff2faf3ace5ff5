import { readFileSync } from 'node:fs';
import { packageFile } from '../package-files.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/**
 * A script for the shell. All of them hand the words typed so far to `complete`, which answers with one candidate a
 * line, a tab and what it means; an answer of `:files` alone leaves it to the shell to complete a file.
 */
export function completionScript(shell: Shell): string {
  return readFileSync(packageFile(`templates/completion.${shell}.template`), 'utf8').trimEnd();
}
