import { foldPath, lowerAscii } from '../patterns/canonical-path.ts';
import { isWithin } from '@sallyport/sandbox';

export const pathVariables = ['HOME', 'WORKSPACE'] as const;
export type PathVariable = (typeof pathVariables)[number];

/** Each variable with all spellings of its folder. Canonical paths. */
export type PathVariables = Readonly<Record<PathVariable, readonly string[]>>;

/**
 * A path as patterns see it: what remains of it below each folder that a pattern can start from, without the slash
 * between. Cutting it up once keeps every later comparison short, and what the folders are called never meets a glob.
 */
export interface PlacedPath {
  /** The last component; empty for the root of the file system. */
  readonly name: string;
  readonly root: string;
  /** Undefined: the path is not in that folder. Empty: it is that folder. */
  readonly HOME: string | undefined;
  readonly WORKSPACE: string | undefined;
}

export type PathPlacer = (path: string) => PlacedPath;

/** As written; after `lowerAscii`; after `foldPath`. */
export type Spelling = 'exact' | 'lowered' | 'folded';

export function spellAs(spelling: Spelling, text: string): string {
  if (spelling === 'exact') return text;
  return spelling === 'lowered' ? lowerAscii(text) : foldPath(text);
}

/** Expects canonical paths, in the spelling given. */
export function createPathPlacer(variables: PathVariables, spelling: Spelling): PathPlacer {
  const spell = (folders: readonly string[]): readonly string[] => folders.map((folder) => spellAs(spelling, folder));
  const home = spell(variables.HOME);
  const workspace = spell(variables.WORKSPACE);
  return (path) => ({
    name: path.slice(path.lastIndexOf('/') + 1),
    root: path.slice(1),
    HOME: remainderBelow(home, path),
    WORKSPACE: remainderBelow(workspace, path),
  });
}

function remainderBelow(folders: readonly string[], path: string): string | undefined {
  for (const folder of folders) {
    if (isWithin(folder, path)) return path.slice(folder === '/' ? 1 : folder.length + 1);
  }
  return undefined;
}

/** A plain path that may start with a variable, as an absolute one. Expects no pattern. */
export function expandPath(text: string, variables: PathVariables): string {
  return text.replace(/^\$(HOME|WORKSPACE)(?=\/|$)/, (whole, name: PathVariable) => variables[name][0] ?? whole);
}
