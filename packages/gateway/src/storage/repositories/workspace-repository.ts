/** A folder in which sessions may have their workspace, because an operator said so. */
export interface WorkspaceRoot {
  /** Absolute, without links. */
  readonly path: string;
  readonly addedAtMs: number;
  readonly addedBy: string;
  /** The rules of the project as an operator accepted them. Absent: none are in force. */
  readonly rules?: AcceptedProjectRules;
}

export interface AcceptedProjectRules {
  readonly bytes: Uint8Array;
  readonly acceptedAtMs: number;
  readonly acceptedBy: string;
}

/** Which folders sessions may work in, besides the daemon's own. */
export interface WorkspaceRepository {
  /** Replaces the one of the same path. */
  readonly putWorkspaceRoot: (root: WorkspaceRoot) => Promise<void>;
  /** False when there was none. */
  readonly removeWorkspaceRoot: (path: string) => Promise<boolean>;
}
