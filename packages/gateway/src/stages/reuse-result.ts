import { hash } from 'node:crypto';
import type { ArgumentsChecked, Begun, KeyHeld, Opened, Resolved, ReuseChecked } from '../call/call.ts';
import { refuse } from '../call/refusal.ts';
import type { KeyedLock } from '../call/keyed-lock.ts';
import type { Stage } from '../call/stage.ts';
import type { DedupeEntry, Store } from '../storage/stores.ts';
import { refuseEnded } from './refuse-ended.ts';

/** Finds the first success of a dedupe key. A concurrent duplicate waits here until the first call has ended. */
export function reuseResult(
  store: Pick<Store, 'findDedupe'>,
  keys: KeyedLock,
): Stage<Begun & Opened & Resolved & ArgumentsChecked, KeyHeld & ReuseChecked> {
  return {
    name: 'reuse-result',
    run: async (call, context) => {
      const { dedupeKey, session } = call;
      if (dedupeKey === '') return {};
      if (call.tool.definition.audience !== 'everyone') {
        // Their results, such as a new token, must not be kept.
        return refuse('INVALID_ARGUMENTS', 'dedupe', `${call.tool.definition.name} takes no dedupe key.`, {
          remedy: 'Call it without a dedupe key.',
        });
      }
      const releaseKey = await keys.acquire(`${session.id} ${dedupeKey}`, call.signal);
      if (releaseKey === undefined) {
        return refuseEnded(call.signal);
      }
      let first: DedupeEntry | undefined;
      try {
        first = await store.findDedupe(session.id, dedupeKey, context.nowMs());
      } catch (error) {
        // No fact of this stage survives the fault, so nobody else could let go of the key.
        releaseKey();
        throw error;
      }
      if (first === undefined) return { releaseKey };
      const isSame = first.argumentsSha256 === fingerprintOf(call);
      if (isSame && first.state === 'succeeded') {
        const { output = null, kept, callId } = first;
        return { releaseKey, reused: { output, callId, ...(kept === undefined ? {} : { kept }) } };
      }
      // Once more is as good as once.
      if (isSame && first.state === 'unknown' && call.tool.definition.idempotent) return { releaseKey };
      releaseKey();
      if (!isSame) {
        return refuse('DEDUPE_CONFLICT', 'dedupe', 'This dedupe key was used with another tool or other arguments.', {
          remedy: 'Use a new key for a new call.',
        });
      }
      return refuse(
        'DEDUPE_UNKNOWN',
        'dedupe',
        `Call ${first.callId} with this key ended after its effect may have begun; whether it happened is not known.`,
        {
          remedy: 'Look whether the effect happened, then call with a new key if it must be done again.',
        },
      );
    },
  };
}

/** What a dedupe key stands for: the tool as well, because two tools may take the same arguments. */
export function fingerprintOf(call: Resolved & ArgumentsChecked): string {
  return hash('sha256', `${call.tool.definition.name} ${call.arguments.sha256}`);
}
