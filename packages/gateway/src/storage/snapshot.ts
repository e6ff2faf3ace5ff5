import type { StandingApproval } from '../call/approval.ts';
import type { Organisation } from '../call/organisation.ts';
import type { Mode, Session } from '../call/session.ts';
import type { ToolPin, WorkspaceRoot } from './repositories.ts';

/** The parts of the snapshot that a call can depend on. */
export type Aspect = 'session' | 'mode' | 'organisation';

/** One step from a version of the snapshot to the next. */
export type Change =
  | { readonly kind: 'session'; readonly session: Session; readonly tokenSha256: string }
  | { readonly kind: 'mode'; readonly mode: Mode }
  | { readonly kind: 'organisation'; readonly organisation: Organisation }
  | { readonly kind: 'tool-pins'; readonly pins: readonly ToolPin[] }
  | { readonly kind: 'workspace-roots'; readonly roots: readonly WorkspaceRoot[] }
  | { readonly kind: 'standing'; readonly standing: readonly StandingApproval[] };

/**
 * What the gates ask on every call: a small projection of the store in memory, read without waiting. It sees every
 * write of this daemon whose promise has resolved. It may lag behind other writers; `Ledger.admit` notices that.
 */
export interface Snapshot {
  /** Grows with every change. */
  readonly version: () => number;
  /** When the snapshot was last known to be complete. */
  readonly trueAtMs: () => number;
  /** Which part that a call of this session depends on has changed after that version. Absent: none. */
  readonly changedSince: (version: number, sessionId: string) => Aspect | undefined;
  /** Called after each change, with the version it leads to. Returns a function that removes the listener. */
  readonly onChange: (listener: (change: Change, version: number) => void) => () => void;

  /** With its spending as it was at the last change of the session. Absent: unknown, or ended long ago. */
  readonly findSession: (id: string) => Session | undefined;
  readonly findSessionByToken: (tokenSha256: string) => Session | undefined;
  /** Those that have not ended, oldest first. */
  readonly liveSessions: () => readonly Session[];
  readonly readMode: () => Mode;
  /** The same object until something changes. */
  readonly readOrganisation: () => Organisation;
  /** By name and version. */
  readonly listToolPins: () => readonly ToolPin[];
  /** By path; the same object until something changes. */
  readonly listWorkspaceRoots: () => readonly WorkspaceRoot[];
  /** In force, newest first. */
  readonly listStanding: (filter: {
    readonly sessionId?: string;
    readonly nowMs: number;
  }) => readonly StandingApproval[];
}
