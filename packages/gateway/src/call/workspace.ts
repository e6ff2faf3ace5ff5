/** Where a session works. One object stands for one state of it: a change is another object. */
export interface Workspace {
  /** What $WORKSPACE stands for. Absolute, without links. */
  readonly folder: string;
  /** The accepted root that it lies in. The two are the same unless an operator named a folder in the root. */
  readonly root: string;
  /** The other accepted roots. */
  readonly otherRoots: readonly string[];
  /** SHA-256 of the project rules in force, hexadecimal. Absent: the project has none. */
  readonly rulesSha256?: string;
  /** Differs whenever something above does. */
  readonly key: string;
}

/** One project, and no other. */
export function loneWorkspace(folder: string): Workspace {
  return { folder, root: folder, otherRoots: [], key: folder };
}
