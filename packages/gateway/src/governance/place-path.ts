import { isWithin, lowerAscii } from './canonical-path.ts';

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

/** Expects canonical paths. With `lowered`, paths that went through `lowerAscii`. */
export function createPathPlacer(variables: PathVariables, spelling: 'exact' | 'lowered'): PathPlacer {
  const spell = (folders: readonly string[]): readonly string[] =>
    spelling === 'exact' ? folders : folders.map(lowerAscii);
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
