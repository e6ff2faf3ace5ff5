import { describeCode } from '@sallyport/contract';
import type { Code } from '@sallyport/contract';
import type { Limits } from '../call/verdict.ts';
import type { Ending } from '../call/stage.ts';
import type { Misconduct } from '../storage/stores.ts';
import type { CallFacts } from '../call/call.ts';

/** Endings that say nothing about the caller's manners. */
const blameless: ReadonlySet<string> = new Set([
  'APPROVAL_REQUIRED',
  'APPROVAL_MISMATCH',
  'APPROVAL_DENIED',
  'APPROVAL_EXPIRED',
  'APPROVAL_USED',
  'NO_APPROVER',
  'TOOL_MISSING',
  'SANDBOX_UNAVAILABLE',
  'STANDING_CHANGED',
  'MODE_FORBIDS',
  'CANCELLED',
  'EFFECT_UNKNOWN',
]);

/** What an ending counts against its session. Undefined: nothing. Operators are not judged, nor are our own faults. */
export function weighMisconduct(ending: Ending<CallFacts>, limits: Limits['quarantine']): Misconduct | undefined {
  const { session } = ending.call;
  if (session === undefined || session.principal === 'operator') return undefined;
  const weight = weigh(ending, limits.weights);
  if (weight === 0) return undefined;
  return { sessionId: session.id, weight, limit: limits.at, windowMs: limits.windowMs };
}

function weigh(ending: Ending<CallFacts>, weights: Limits['quarantine']['weights']): number {
  switch (ending.kind) {
    case 'refused':
      return isMisdeed(ending.refusal.code) ? weights.denied : 0;
    case 'faulted':
      return 0;
    case 'completed': {
      const { outcome } = ending.call;
      if (outcome.ok || blameless.has(outcome.failure.code)) return 0;
      return outcome.failure.code === 'TIMEOUT' ? weights.timeout : weights.error;
    }
  }
}

/** Whether a refusal with this code says that something was tried which should not have been. */
export function isMisdeed(code: Code): boolean {
  const { category, presentedAs } = describeCode(code);
  return presentedAs === 'denied' && category !== 'resource_exhaustion' && !blameless.has(code);
}
