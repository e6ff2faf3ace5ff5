/** What there is under a path, as far as undo has to know it again. */
export type EntryState =
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'file';
      /** Absent: too large to be read for this; size and time tell whether it is the same. */
      readonly sha256?: string;
      readonly sizeBytes: number;
      readonly mode: number;
      /** In microseconds: the finest that Node can set again. */
      readonly mtimeUs: number;
      readonly atimeUs: number;
    }
  /** A folder with nothing in it. */
  | { readonly kind: 'folder'; readonly mode: number }
  /** A folder with all that is in it. */
  | { readonly kind: 'tree'; readonly sha256: string; readonly entries: number }
  | { readonly kind: 'link'; readonly target: string }
  /** A git repository besides its files, at its top folder. The hash is of what is kept of it in the trash. */
  | { readonly kind: 'repository'; readonly sha256: string; readonly operation: string }
  /** Not known yet: it was written down before somebody else makes the change. */
  | { readonly kind: 'unknown' };

/** One change of one path: enough to take it back, and to see whether anything changed the path since. */
export interface Change {
  /** The real one. */
  readonly path: string;
  readonly before: EntryState;
  readonly after: EntryState;
  /**
   * The name in the trash of what was there before; where something came out of the trash, the name that it had there.
   * Absent: there was nothing to keep.
   */
  readonly kept?: string;
  /** Where the entry was moved, with all its bytes. Absent: it was not moved. */
  readonly movedTo?: string;
}

export const absent: EntryState = { kind: 'absent' };

/** The operation of git that changed a repository. Undefined: the change is of a file, a link or a folder. */
export function operationOf({ before }: Pick<Change, 'before'>): string | undefined {
  return before.kind === 'repository' ? before.operation : undefined;
}
