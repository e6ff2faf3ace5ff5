import type { Begun, Opened, Resolved, TurnTaken } from '../call/call.ts';
import { refuse } from '../call/refusal.ts';
import type { Stage } from '../call/stage.ts';
import type { Turnstile } from '../call/turnstile.ts';
import { refuseEnded } from './refuse-ended.ts';

export interface Turnstiles {
  readonly calls: Turnstile;
  /** For content on its way from or to the caller, who alone says how long it takes. */
  readonly transfers: Turnstile;
}

/** Waits for a place among the running calls, before anything is reserved or recorded as intended. */
export function awaitTurn(turnstiles: Turnstiles): Stage<Begun & Opened & Resolved, TurnTaken> {
  return {
    name: 'await-turn',
    run: async ({ session, tool, signal }) => {
      const { audience, origin, isTransfer } = tool.definition;
      // Whoever runs the gate does not queue behind what may be the trouble.
      if (audience !== 'everyone') return { releaseTurn: () => undefined };
      // Each step of a pipeline takes a place. One that held a place itself would keep its own steps waiting for ever.
      if (origin === 'pipeline') return { releaseTurn: () => undefined };
      const turnstile = isTransfer === true ? turnstiles.transfers : turnstiles.calls;
      const taken = turnstile.take(session.id, signal);
      const releaseTurn = taken instanceof Promise ? await taken : taken;
      if (releaseTurn !== undefined) return { releaseTurn };
      if (signal.aborted) return refuseEnded(signal);
      const message =
        isTransfer === true
          ? 'Too many transfers are running: no place became free.'
          : 'Too many calls are running: no place became free.';
      return refuse('TOO_MANY_CALLS', 'running-calls', message, {
        remedy: 'Wait until calls of this session have ended, and send fewer at once.',
        forOperators: '`sallyport call list` shows what runs, and `sallyport call cancel` ends one.',
        retryAfterMs: 1000,
      });
    },
  };
}
