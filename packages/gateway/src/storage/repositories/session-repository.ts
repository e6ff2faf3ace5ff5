import type { Budget, Lease, LeaseScope, Session } from '../../call/session.ts';

/** A session as it is opened: nothing is spent yet. */
export interface NewSession extends Omit<Session, 'status' | 'lease' | 'budget' | 'spent'> {
  /** SHA-256 of the token, hexadecimal. The token itself is never stored. */
  readonly tokenSha256: string;
  readonly lease: NewLease;
  /** Absent: no limit. */
  readonly budget?: Budget;
}

export interface NewLease extends LeaseScope {
  readonly id: string;
  /** Absent: as long as the session. */
  readonly expiresAtMs?: number;
  /** Absent: only the budget of the session counts. */
  readonly budget?: Budget;
}

export interface SessionRepository {
  readonly createSession: (session: NewSession) => Promise<void>;
  /** False when the session does not exist or has ended before. Ending is final. */
  readonly endSession: (id: string) => Promise<boolean>;
  /** Ends the current lease for good and replaces it. False when the session is not active. */
  readonly grantLease: (sessionId: string, lease: NewLease, nowMs: number) => Promise<boolean>;
  /** False when no lease is in force. */
  readonly revokeLease: (sessionId: string, nowMs: number) => Promise<boolean>;
  /** With its spending as it is now. */
  readonly readSession: (id: string) => Promise<Session | undefined>;
  /** Also finds a session that ended long ago, which the snapshot no longer has. */
  readonly readSessionByToken: (tokenSha256: string) => Promise<Session | undefined>;
  /** All there ever were, oldest first. */
  readonly listSessions: () => Promise<readonly Session[]>;
  /** All leases of a session, oldest first. */
  readonly listLeases: (sessionId: string) => Promise<readonly Lease[]>;
}
