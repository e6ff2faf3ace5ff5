import { keepText } from './describe-call.ts';
import { ownText, say } from '../call/redacted.ts';
import type { Redacted } from '../call/redacted.ts';
import type { Redactor } from '../redaction/redact.ts';
import { redacted } from '../redaction/span.ts';

const longestPath = 4096;

/**
 * Paths as a record keeps them; they may be a folder and files in it. A secret may contain slashes, so the path of a folder
 * may end inside a secret. The deepest path shows where that secret begins.
 */
export function keepPaths(paths: readonly string[], redactor: Redactor): Redacted[] {
  const longestFirst = paths.toSorted((a, b) => b.length - a.length);
  return paths.map((path) => {
    const deepest = longestFirst.find((other) => other.startsWith(path)) ?? path;
    const shown = redactor.redactText(deepest);
    if (path === deepest || shown.startsWith(path)) return keepText(path, redactor, longestPath);
    const open = keepText(path.slice(0, commonLength(path, shown)), redactor, longestPath);
    return say`${open}${ownText(redacted)}`;
  });
}

function commonLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a.charCodeAt(length) === b.charCodeAt(length)) length++;
  return length;
}
