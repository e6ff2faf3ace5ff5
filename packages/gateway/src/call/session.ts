import type { Door } from './call.ts';

export const modes = ['NORMAL', 'ALERT', 'DEGRADED', 'LOCKDOWN', 'RECOVERY'] as const;
export type Mode = (typeof modes)[number];
/** Where a tool that changes or reaches something can be used. */
export const modesOutsideLockdown: readonly Mode[] = modes.filter((mode) => mode !== 'LOCKDOWN');

/** Who calls in a session: a person with their own credential, or an agent that a person admitted. */
export type Principal = 'operator' | 'agent';

/** The person whose credential is in the home folder. The owner of that folder holds it, so nobody can take it away. */
export const firstOperator = 'operator';

/** What may be spent. What is absent is not limited. */
export interface Budget {
  readonly calls?: number;
  /** Time in which calls ran. */
  readonly activeMs?: number;
  readonly tokens?: number;
  /** Millionths of the currency in which the operator counts. */
  readonly costMicros?: number;
}

export type Spending = Required<Budget>;

/** A part of a budget of which nothing is left. */
export interface SpentBudget {
  readonly of: 'session' | 'lease';
  readonly kind: keyof Budget;
  readonly used: number;
  readonly limit: number;
}

/**
 * What a session may use. A list that is absent does not narrow; one that is empty allows nothing of its kind. In all
 * but paths `*` stands for any text.
 */
export interface LeaseScope {
  /** Canonical names. */
  readonly tools: readonly string[];
  /** Absolute folders and files; everything below a folder is included. */
  readonly paths?: readonly string[];
  readonly hosts?: readonly string[];
  /** Names of programs. */
  readonly commands?: readonly string[];
  /** `DIFF`, `PUSH` and so on. */
  readonly gitOperations?: readonly string[];
  readonly providers?: readonly string[];
  readonly models?: readonly string[];
}

export interface Lease extends LeaseScope {
  readonly id: string;
  readonly grantedAtMs: number;
  /** Absent: as long as the session. */
  readonly expiresAtMs?: number;
  /** When it was revoked or replaced. Absent: in force. Nothing brings an ended lease back. */
  readonly endedAtMs?: number;
  readonly budget: Budget;
  readonly spent: Spending;
}

export interface Session {
  readonly id: string;
  readonly principal: Principal;
  /** The agent's name, or the operator's. */
  readonly agent: string;
  /** `quarantined`: it broke the rules too often, and only an operator can decide what comes next. */
  readonly status: 'active' | 'ended' | 'quarantined';
  readonly createdAtMs: number;
  /**
   * The only door where its credential is accepted. Absent: agents everywhere but at the operator socket; operators there,
   * and all but the first one at TCP too.
   */
  readonly door?: Door;
  /** Absent: does not expire. */
  readonly expiresAtMs?: number;
  /** Relative paths start here. Absolute. */
  readonly workingDirectory: string;
  /** What $WORKSPACE stands for, fixed when the session was opened. Absent: the daemon's own. */
  readonly workspace?: string;
  /** Told how calls were decided that waited for a person; given by the operator. Absent: nobody is called back. */
  readonly callbackUrl?: string;
  /** The newest lease, in force or not. */
  readonly lease: Lease;
  readonly budget: Budget;
  readonly spent: Spending;
}
