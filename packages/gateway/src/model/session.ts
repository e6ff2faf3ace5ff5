export const modes = ['NORMAL', 'ALERT', 'DEGRADED', 'LOCKDOWN', 'RECOVERY'] as const;
export type Mode = (typeof modes)[number];

/** Who stands behind a session: a person with a credential of their own, or an agent that a person let in. */
export type Principal = 'operator' | 'agent';

export interface Lease {
  /** Canonical tool names; `*` stands for any text within one. */
  readonly tools: readonly string[];
}

export interface Session {
  readonly id: string;
  readonly principal: Principal;
  /** The agent's name, or the operator's. */
  readonly agent: string;
  readonly status: 'active' | 'ended';
  readonly createdAtMs: number;
  /** Absent: does not expire. */
  readonly expiresAtMs?: number;
  /** Relative paths start here. Absolute. */
  readonly workingDirectory: string;
  readonly lease: Lease;
  /** Absent: no limit on the number of calls. */
  readonly maxCalls?: number;
  readonly callsUsed: number;
}
