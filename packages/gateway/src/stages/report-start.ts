import type { CallFacts, Confirmed } from '../call/call.ts';
import type { Gathered, Stage } from '../call/stage.ts';

/** Tells watchers that the effect of a call is about to begin. Refuses nothing, and does not wait. */
export function reportStart(events: { readonly started: (call: Gathered<CallFacts>) => void }): Stage<Confirmed> {
  return {
    name: 'report-start',
    run: (call) => {
      events.started(call);
      return undefined;
    },
  };
}
