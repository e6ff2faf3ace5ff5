import { isWithin } from '@sallyport/sandbox';

/** Where a session works. One object stands for one state of it: a change is another object. */
export interface Workspace {
  /** What $WORKSPACE stands for. Absolute, without links. */
  readonly folder: string;
  /** The accepted root that contains it. The two are the same unless an operator named a folder in the root. */
  readonly root: string;
  /** The other accepted roots. */
  readonly otherRoots: readonly string[];
  /** SHA-256 of the project rules in force, hexadecimal. Absent: the project has no rules. */
  readonly rulesSha256?: string;
  /** Differs whenever something above does. */
  readonly key: string;
}

/** Whether a folder belongs to this workspace, to another place that an operator accepted, or to none. */
export function belongs({ folder, root, otherRoots }: Workspace, path: string): 'here' | 'elsewhere' | 'nowhere' {
  const around = [root, ...otherRoots].filter((each) => isWithin(each, path));
  const innermost = around.sort((a, b) => b.length - a.length)[0];
  if (innermost === undefined) return 'nowhere';
  return innermost === root && isWithin(folder, path) ? 'here' : 'elsewhere';
}

/** One project, and no other. */
export function loneWorkspace(folder: string): Workspace {
  return { folder, root: folder, otherRoots: [], key: folder };
}
