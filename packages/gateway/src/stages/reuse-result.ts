import type { ArgumentsChecked, Begun, KeyHeld, Opened, ReuseChecked } from '../model/call.ts';
import { refuse } from '../model/refusal.ts';
import type { KeyedLock } from '../pipeline/keyed-lock.ts';
import type { Stage } from '../pipeline/stage.ts';
import type { Store } from '../storage/stores.ts';

/** Finds the first success of a dedupe key. A concurrent duplicate waits here until the first call has ended. */
export function reuseResult(
  store: Pick<Store, 'findDedupe'>,
  keys: KeyedLock,
): Stage<Begun & Opened & ArgumentsChecked, KeyHeld & ReuseChecked> {
  return {
    name: 'reuse-result',
    run: async ({ dedupeKey, session, arguments: { sha256 } }, context) => {
      if (dedupeKey === '') return {};
      const releaseKey = await keys.acquire(`${session.id} ${dedupeKey}`);
      const first = store.findDedupe(session.id, dedupeKey, context.nowMs());
      if (first === undefined) return { releaseKey };
      if (first.argumentsSha256 === sha256 && first.state === 'succeeded') {
        return { releaseKey, reused: { output: first.output ?? null, callId: first.callId } };
      }
      releaseKey();
      if (first.argumentsSha256 !== sha256) {
        return refuse('DEDUPE_CONFLICT', 'dedupe', 'This dedupe key was used with other arguments.', {
          remedy: 'Use a new key for a new call.',
        });
      }
      return refuse(
        'DEDUPE_UNKNOWN',
        'dedupe',
        `Call ${first.callId} with this key was cut off; its effect is unknown.`,
        {
          remedy: 'Look whether the effect happened, then call with a new key if it must be done again.',
        },
      );
    },
  };
}
