import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Nothing longer can be opened by name (PATH_MAX on Linux). */
export const maxPathLength = 4096;

const oddComponent = /\/(?:\/|\.\.?(?:\/|$)|$)|\0/;

/** Absolute, one spelling: no empty, `.` or `..` component, no slash at the end, no NUL, no half characters. */
export function isCanonicalPath(path: string): boolean {
  if (path === '/') return true;
  return path.startsWith('/') && path.length <= maxPathLength && !oddComponent.test(path) && path.isWellFormed();
}

/** Where a path leads once links are followed, as far as it can be looked at; the rest is kept as written. */
export function resolveLinks(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(resolveLinks(parent), basename(path));
  }
}

/** A path as given and as the file system sees it: tools may meet either spelling. */
export function withAlias(path: string): readonly string[] {
  return [...new Set([path, resolveLinks(path)])];
}

/**
 * ASCII letters in lower case. Keeps the length and every boundary, so a pattern that matches a path still matches when
 * both are lowered.
 */
export function lowerAscii(path: string): string {
  if (/^[\0-\x7f]*$/.test(path)) return path.toLowerCase();
  return path.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** What no file system tells apart, however lax: case, composition, invisible characters. */
export function foldPath(path: string): string {
  if (/^[\0-\x7f]*$/.test(path)) return path.toLowerCase();
  const folded = path.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
  return folded.replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '');
}
