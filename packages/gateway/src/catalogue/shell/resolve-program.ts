import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { attempt } from '@sallyport/contract';
import { parsePath } from '../../paths/parse-path.ts';
import { isWithin } from '@sallyport/sandbox';
import { refuse } from '../../call/refusal.ts';
import { ToolRefused } from '../../call/tool.ts';

/** Where programs are looked up, whatever the caller's PATH says. */
export const programFolders = ['/usr/bin', '/bin'] as const;

export interface ResolvedProgram {
  /** What runs. Absolute. */
  readonly path: string;
  /** What the rules call it: the bare name of a program in the fixed folders, else the path. */
  readonly name: string;
  /** Whether it is outside the system's own read-only folders, so that the rules decide about its path too. */
  readonly isForeign: boolean;
}

const builtins = new Set(
  [
    'alias bg bind break builtin caller cd command compgen complete continue declare dirs disown enable eval exec exit',
    'export fc fg getopts hash help history jobs let local logout mapfile popd pushd read readarray readonly return set',
    'shift shopt source suspend times trap type typeset ulimit umask unalias unset wait . :',
  ].flatMap((line) => line.split(' ')),
);

/** Finds the program that a command names. Throws ToolRefused when it finds none: rules never judge a guess. */
export function resolveProgram(word: string, workingDirectory: string): ResolvedProgram {
  if (!word.includes('/')) {
    const path = lookUp(word);
    if (path === undefined) throw missing(word);
    return { path, name: word, isForeign: false };
  }
  const { path } = parsePath(word, workingDirectory);
  const name = basename(path);
  const listed = programFolders.some((folder) => folder === dirname(path)) ? lookUp(name) : undefined;
  if (listed !== undefined && realpathSync.native(listed) === realPathOf(path)) {
    return { path: listed, name, isForeign: false };
  }
  return { path, name: path, isForeign: !isWithin('/usr', path) };
}

function lookUp(name: string): string | undefined {
  if (name === '.' || name === '..') return undefined;
  return programFolders.map((folder) => join(folder, name)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function realPathOf(path: string): string | undefined {
  return attempt(() => realpathSync.native(path));
}

function missing(word: string): ToolRefused {
  const [why, remedy] = builtins.has(word)
    ? [
        'works only inside a shell',
        'Give the folder as cwd and variables as env; leave everything else of a shell out.',
      ]
    : [`is not a program in ${programFolders.join(' or ')}`, 'Name the program by its absolute path.'];
  return new ToolRefused(refuse('COMMAND_UNCLEAR', 'command-program', `${JSON.stringify(word)} ${why}.`, { remedy }));
}
