import { refuse } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import { CallEnded } from '../call/call-ended.ts';

/** For a call that was ended while it still waited: it did nothing, and says who ended it. */
export function refuseEnded({ reason }: AbortSignal): Refusal {
  if (reason instanceof CallEnded) return refuse(reason.unbegunCode, reason.how, reason.message);
  return refuse('CANCELLED', 'caller', 'The caller went away before the call could run.');
}
