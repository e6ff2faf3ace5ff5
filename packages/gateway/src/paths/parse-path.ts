import { isAbsolute, posix, relative } from 'node:path';
import { refuse } from '../call/refusal.ts';
import { ToolRefused } from '../call/tool.ts';

/** A path as the caller wrote it, for messages, and as the rules judge it. */
export interface NamedPath {
  readonly given: string;
  /** Absolute and lexically canonical: no `.`, no `..`, no repeated or trailing slash. */
  readonly path: string;
}

/** The kernel takes 4096 bytes with the final NUL. */
const maxPathBytes = 4095;
const controlCharacter = /\p{Cc}/u;
/** Relative, and nothing about it has to be resolved: no empty part, and none that begins with a dot. */
const plainPath = /^[^/.][^/]*(?:\/[^/.][^/]*)*$/;

/**
 * Reads a path that a caller gave. `..` is refused wherever it stands, because behind a link it means something else
 * to the kernel than to the rules. Throws ToolRefused.
 */
export function parsePath(given: string, workingDirectory: string): NamedPath {
  if (given === '') throw invalid('The path is empty.');
  if (!given.isWellFormed() || controlCharacter.test(given)) {
    throw invalid('The path holds a NUL, another control character, or half of a surrogate pair.');
  }
  if (given.includes('..') && given.split('/').includes('..')) {
    throw new ToolRefused(
      refuse('UNSAFE_PATH', 'path-syntax', 'The path climbs with "..".', {
        remedy: 'Name the file from the working directory downwards, or by its absolute path without "..".',
      }),
    );
  }
  const path = plainPath.test(given) ? resolveFolder(workingDirectory) + given : posix.resolve(workingDirectory, given);
  if (isLonger(given, maxPathBytes + 1) || isLonger(path, maxPathBytes)) {
    throw invalid(`The path is longer than ${maxPathBytes} bytes.`);
  }
  return { given, path };
}

/** A character takes three bytes at most, so that short texts need not be counted. */
function isLonger(text: string, mostBytes: number): boolean {
  return text.length * 3 > mostBytes && Buffer.byteLength(text) > mostBytes;
}

let lastFolder: string | undefined;
let lastResolved = '';

/** With a slash at the end. Calls come from the same folder again and again. */
function resolveFolder(folder: string): string {
  if (folder !== lastFolder) {
    const resolved = posix.resolve(folder);
    [lastFolder, lastResolved] = [folder, resolved === '/' ? resolved : `${resolved}/`];
  }
  return lastResolved;
}

/** Spells another path the way the caller spelled theirs, so that an answer names no folder they did not name. */
export function spellLike(named: NamedPath, path: string, workingDirectory: string): string {
  return isAbsolute(named.given) ? path : relative(workingDirectory, path) || '.';
}

function invalid(message: string): ToolRefused {
  return new ToolRefused(refuse('INVALID_ARGUMENTS', 'path-syntax', message));
}
