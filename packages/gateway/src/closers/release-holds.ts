import type { Closer } from '../call/stage.ts';
import type { CallFacts } from '../call/call.ts';

/** Lets those go on who waited for this call: after its record, so that they find its result. */
export const releaseHolds: Closer<CallFacts> = {
  name: 'release-holds',
  required: true,
  run: ({ call }) => {
    call.releaseKey?.();
    call.releaseTurn?.();
  },
};
