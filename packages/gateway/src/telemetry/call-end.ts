import type { Code } from '@sallyport/contract';
import { Fault } from '../call/fault.ts';
import type { CallEnding } from '../call/stage.ts';

/** `pending`: nobody has said no; a person is asked, or the operator who called is. */
export const outcomes = ['ok', 'error', 'denied', 'pending', 'fault'] as const;
export type Outcome = (typeof outcomes)[number];

/** How a call ended, as all telemetry tells it. */
export interface CallEnd {
  readonly outcome: Outcome;
  /** Absent: it succeeded. */
  readonly code?: Code | undefined;
  /** Of the rule that refused it. Absent: none did. */
  readonly rule?: string | undefined;
}

const succeeded: CallEnd = { outcome: 'ok' };

export function readEnd(ending: CallEnding): CallEnd {
  switch (ending.kind) {
    case 'refused': {
      const { code, rule, approval } = ending.refusal;
      const isPending = code === 'APPROVAL_REQUIRED' && approval !== undefined;
      return { outcome: isPending ? 'pending' : 'denied', code, rule: rule.id };
    }
    case 'faulted':
      return { outcome: 'fault', code: ending.fault instanceof Fault ? ending.fault.code : 'INTERNAL' };
    case 'completed': {
      const { outcome } = ending.call;
      return outcome.ok ? succeeded : { outcome: 'error', code: outcome.failure.code };
    }
  }
}
