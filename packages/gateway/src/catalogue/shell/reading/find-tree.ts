import { readKnownArguments } from './known-options.ts';
import type { ReadArguments } from './known-options.ts';
import type { ReadWord } from './reading.ts';

/** Which files of a folder a program opens when it reads all of it. Names may have `*` and `?`. */
export interface TreeFilter {
  /** Names of files that alone are read. Empty: all. */
  readonly only: readonly string[];
  /** Names of files that are passed over. */
  readonly without: readonly string[];
  /** Names of folders that are not entered. */
  readonly withoutFolders: readonly string[];
  /** Whether names that begin with a dot are passed over. */
  readonly skipsHidden: boolean;
  /** Whether what git ignores is passed over. */
  readonly skipsIgnored: boolean;
  /** Whether links inside are followed. */
  readonly followsLinks: boolean;
}

export interface TreeReading extends TreeFilter {
  /** Absolute. */
  readonly path: string;
}

export interface FoundTree {
  readonly filter: TreeFilter;
  /** Folders and files, as they are named. */
  readonly roots: readonly ReadWord[];
}

/** What a program reads besides the files that it names. Undefined: nothing. */
export function findTree(name: string, args: readonly ReadWord[]): FoundTree | undefined {
  const read = readKnownArguments(name, args);
  if (read === undefined) return undefined;
  const has = (...options: readonly string[]): boolean => options.some((option) => read.options.has(option));
  const hasPattern = has('e', 'regexp', 'f', 'file');
  const roots = name === 'diff' || hasPattern ? read.named : read.named.slice(1);
  const found = (filter: TreeFilter): FoundTree => ({ filter, roots: roots.length > 0 ? roots : [here] });
  if (name === 'rg') return has('files', 'type-list') ? undefined : found(readRipgrep(read, has));
  if (greps.has(name) && has('r', 'R', 'd', 'recursive', 'dereference-recursive', 'directories')) {
    return found({ ...readGrep(read), followsLinks: has('R', 'dereference-recursive') });
  }
  // Of two folders it compares what is in them, even without being told to go further down.
  if (name === 'diff') return found({ ...everything, followsLinks: true });
  return undefined;
}

const here: ReadWord = { text: '.', value: '.' };
const greps = new Set(['grep', 'egrep', 'fgrep']);
const everything: TreeFilter = {
  ...{ only: [], without: [], withoutFolders: [] },
  ...{ skipsHidden: false, skipsIgnored: false, followsLinks: false },
};

function readGrep(read: ReadArguments): TreeFilter {
  const only = valuesOf(read, 'include');
  const without = valuesOf(read, 'exclude');
  const withoutFolders = valuesOf(read, 'exclude-dir').filter(isName);
  // Where both are given, their order decides. Then more is looked at than may be read.
  if (only.length > 0 && without.length > 0) return { ...everything, withoutFolders };
  return { ...everything, only: only.every(isName) ? only : [], without: without.filter(isName), withoutFolders };
}

function readRipgrep(read: ReadArguments, has: (...options: readonly string[]) => boolean): TreeFilter {
  const globs = valuesOf(read, 'g', 'glob');
  const excluded = globs.filter((glob) => glob.startsWith('!')).map((glob) => glob.slice(1));
  // An included name after an excluded one would bring it back.
  const only = excluded.length === 0 && globs.every(isName) && !has('iglob') ? globs : [];
  const without = excluded.length === globs.length ? excluded.filter(isName) : [];
  // What a glob includes is searched although it is hidden or ignored.
  const included = [...globs, ...valuesOf(read, 'iglob')].filter((glob) => !glob.startsWith('!'));
  const seesMore =
    included.length > 0 ||
    has('u', '.', 'unrestricted', 'hidden') ||
    [...read.options].some((name) => name.startsWith('no-ignore'));
  const followsLinks = has('L', 'follow');
  return { only, without, withoutFolders: without, skipsHidden: !seesMore, skipsIgnored: !seesMore, followsLinks };
}

/** A value that is not known fits no name. */
function valuesOf({ values }: ReadArguments, ...options: readonly string[]): readonly string[] {
  return values.flatMap(([option, value = '/']) => (options.includes(option) ? [value] : []));
}

/** What is meant by a name with a slash or a bracket, programs disagree about. */
export function isName(glob: string): boolean {
  return /^[\w.*?@+-]+$/.test(glob);
}
