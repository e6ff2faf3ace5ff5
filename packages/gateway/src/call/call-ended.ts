import type { Code } from '@sallyport/contract';
import { ToolFailure } from './tool.ts';
import { refuse } from './refusal.ts';
import type { Refusal } from './refusal.ts';

export type CallEnder = 'cancel' | 'session-end' | 'stop' | 'lockdown';

const says: Readonly<Record<CallEnder, (by: string) => string>> = {
  cancel: (by) => `${by} cancelled the call.`,
  'session-end': (by) => `${by} ended the session, and the call with it.`,
  stop: (by) => `Sallyport was stopped (${by}), and the call with it.`,
  lockdown: (by) => `LOCKDOWN began (${by}) and stopped the call.`,
};

/** Why a call was ended by somebody who is not its caller. It is the reason of the call's signal, and is in its record. */
export class CallEnded extends ToolFailure {
  readonly how: CallEnder;
  /** The person, the signal that the daemon got, or `sallyport`. */
  readonly by: string;

  /** `reachesOut`: the call may have effects elsewhere, which nobody here can stop or take back. */
  constructor(how: CallEnder, by: string, { reachesOut = false }: { readonly reachesOut?: boolean } = {}) {
    super(reachesOut ? 'EFFECT_UNKNOWN' : 'CANCELLED', says[how](by));
    this.name = 'CallEnded';
    this.how = how;
    this.by = by;
  }

  /** For a call that had not begun: after a stop it may be sent again. */
  get unbegunCode(): Code {
    return this.how === 'stop' ? 'STOPPING' : 'CANCELLED';
  }
}

/** For a call that was ended while it still waited: it did nothing, and says who ended it. */
export function refuseEnded({ reason }: AbortSignal): Refusal {
  if (reason instanceof CallEnded) return refuse(reason.unbegunCode, reason.how, reason.message);
  return refuse('CANCELLED', 'caller', 'The caller went away before the call could run.');
}
