import type { KeptResult, Reservation } from '../../call/call.ts';

/** The first success of a dedupe key, or the call that is still running with it. */
export interface DedupeEntry {
  readonly key: string;
  readonly argumentsSha256: string;
  readonly callId: string;
  /** `running` after a restart means that the outcome is unknown. */
  readonly state: 'running' | 'succeeded' | 'unknown';
  /** The output, encrypted with a key that is not in this store. */
  readonly sealedOutput?: Uint8Array;
  /** Instead of an output that is too large to be kept here. */
  readonly kept?: KeptResult;
  readonly expiresAtMs: number;
}

export interface ToolUse {
  readonly tool: string;
  readonly lastMs: number;
}

/** What a call left behind for later ones. */
export interface CallMemory {
  readonly findDedupe: (sessionId: string, key: string, nowMs: number) => Promise<DedupeEntry | undefined>;
  /** How much of a window is used, and when it ends. Advice: only `admit` decides. */
  readonly usedOf: (
    reservation: Reservation,
    nowMs: number,
  ) => Promise<{ readonly used: number; readonly resetsInMs: number }>;
  /** Tools that a session has used, and when last, before and after a restart. */
  readonly listToolUses: (sessionId: string) => Promise<readonly ToolUse[]>;
}
