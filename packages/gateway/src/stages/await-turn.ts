import type { Begun, Opened, Resolved, TurnTaken } from '../model/call.ts';
import { refuse } from '../model/refusal.ts';
import type { Stage } from '../pipeline/stage.ts';
import type { Turnstile } from '../pipeline/turnstile.ts';
import { refuseEnded } from './refuse-ended.ts';

/** Waits for a place among the running calls, before anything is reserved or recorded as intended. */
export function awaitTurn(turnstile: Turnstile): Stage<Begun & Opened & Resolved, TurnTaken> {
  return {
    name: 'await-turn',
    run: async ({ session, tool, signal }) => {
      // Whoever runs the gate does not queue behind what may be the trouble.
      if (tool.definition.audience === 'operator') return { releaseTurn: () => undefined };
      // Each step of a pipeline takes a place. One that held a place itself would keep its own steps waiting for ever.
      if (tool.definition.origin === 'pipeline') return { releaseTurn: () => undefined };
      const taken = turnstile.take(session.id, signal);
      const releaseTurn = taken instanceof Promise ? await taken : taken;
      if (releaseTurn !== undefined) return { releaseTurn };
      if (signal.aborted) return refuseEnded(signal);
      return refuse('TOO_MANY_CALLS', 'running-calls', 'Too many calls are running and waiting.', {
        remedy: 'Send fewer calls at once.',
        retryAfterMs: 1000,
      });
    },
  };
}
