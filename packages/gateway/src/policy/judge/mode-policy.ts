import type { Mode } from '../../call/session.ts';

/** How much runs in each mode, and what changes the mode by itself. */
export interface ModePolicy {
  readonly limits: Readonly<Record<Mode, ModeLimits>>;
  readonly transitions: readonly Transition[];
}

export interface ModeLimits {
  /** Calls at once. 0: none but those of tools that a rule allows in this mode by name. */
  readonly maxRunning: number;
  /** Absent: any number. */
  readonly callsPerMinute?: number;
}

/** The mode changes by itself when one of the measures has been above its threshold for the hold time. */
export interface Transition {
  readonly from: Mode;
  readonly to: Mode;
  readonly when: { readonly [Name in Measure]?: number };
  readonly holdMs: number;
}

/** What is measured. Percentages are of 100; `diskFreeMb` counts when it falls below. */
export const measures = [
  'cpu_percent',
  'memory_percent',
  'disk_free_mb',
  'error_percent',
  'violations_per_minute',
  'high_risk_per_minute',
] as const;
export type Measure = (typeof measures)[number];

/** Which mode can follow which. */
export const edges: Readonly<Record<Mode, readonly Mode[]>> = {
  NORMAL: ['ALERT', 'DEGRADED', 'LOCKDOWN'],
  ALERT: ['NORMAL', 'DEGRADED', 'LOCKDOWN'],
  DEGRADED: ['LOCKDOWN', 'RECOVERY'],
  LOCKDOWN: ['RECOVERY'],
  RECOVERY: ['NORMAL', 'LOCKDOWN'],
};

/** What only a person ends. */
export const endedByPeople: readonly Mode[] = ['LOCKDOWN', 'RECOVERY'];

export const defaultModePolicy: ModePolicy = {
  limits: {
    NORMAL: { maxRunning: 64 },
    ALERT: { maxRunning: 32, callsPerMinute: 600 },
    DEGRADED: { maxRunning: 8, callsPerMinute: 120 },
    LOCKDOWN: { maxRunning: 0 },
    RECOVERY: { maxRunning: 8, callsPerMinute: 120 },
  },
  transitions: [],
};
