import type { Begun, Draft, Opened, Resolved, TurnTaken } from '../call/call.ts';
import { refuse } from '../call/refusal.ts';
import type { Passed, Stage } from '../call/stage.ts';
import type { Turnstile } from '../call/turnstile.ts';
import { refuseEnded } from '../call/call-ended.ts';

export interface Turnstiles {
  readonly calls: Turnstile;
  /** For content on its way from or to the caller, whose connection decides how long it takes. */
  readonly transfers: Turnstile;
}

/** Waits for a place among the running calls, before anything is reserved or recorded as intended. */
export function awaitTurn(turnstiles: Turnstiles): Stage<Begun & Opened & Resolved, TurnTaken> {
  return {
    name: 'await-turn',
    run: (call) => {
      const { session, tool } = call;
      const { audience, origin, isTransfer } = tool.definition;
      // Operators do not queue behind calls that may be the problem.
      if (audience !== 'everyone') return enter(call, noPlace);
      // Each step of a pipeline takes a place. One that held a place itself would keep its own steps waiting for ever.
      if (origin === 'pipeline') return enter(call, noPlace);
      const turnstile = isTransfer === true ? turnstiles.transfers : turnstiles.calls;
      const taken = turnstile.take(session.id, call);
      if (taken instanceof Promise) return taken.then((releaseTurn) => enter(call, releaseTurn));
      return enter(call, taken);
    },
  };
}

const noPlace = (): void => undefined;

function enter(call: Begun & Resolved & Draft<TurnTaken>, releaseTurn: (() => void) | undefined): Passed {
  call.releaseTurn = releaseTurn;
  if (releaseTurn !== undefined) return undefined;
  if (call.isEnded) return refuseEnded(call.signal);
  const message =
    call.tool.definition.isTransfer === true
      ? 'Too many transfers are running: no place became free.'
      : 'Too many calls are running: no place became free.';
  return refuse('TOO_MANY_CALLS', 'running-calls', message, {
    remedy: 'Wait until calls of this session have ended, and send fewer at once.',
    forOperators: '`sallyport call list` shows what runs, and `sallyport call cancel` ends one.',
    retryAfterMs: 1000,
  });
}
