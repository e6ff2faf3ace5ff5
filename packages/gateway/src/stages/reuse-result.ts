import { hash } from 'node:crypto';
import type { ArgumentsChecked, Begun, Draft, KeyHeld, Opened, Resolved, ReuseChecked } from '../call/call.ts';
import { refuse } from '../call/refusal.ts';
import type { KeyedLock } from '../call/keyed-lock.ts';
import type { Context, Passed, Stage } from '../call/stage.ts';
import type { ResultSeal } from '../secrets/result-seal.ts';
import type { DedupeEntry, Store } from '../storage/stores.ts';
import { refuseEnded } from '../call/call-ended.ts';

type Needs = Begun & Opened & Resolved & ArgumentsChecked;

/** Finds the first success of a dedupe key. A concurrent duplicate waits here until the first call has ended. */
export function reuseResult(
  store: Pick<Store, 'findDedupe'>,
  keys: KeyedLock,
  seal: Pick<ResultSeal, 'open'>,
): Stage<Needs, KeyHeld & ReuseChecked> {
  return {
    name: 'reuse-result',
    run: (call, context) => (call.dedupeKey === '' ? undefined : claimKey(call, { store, keys, seal }, context)),
  };
}

interface ReuseParts {
  readonly store: Pick<Store, 'findDedupe'>;
  readonly keys: KeyedLock;
  readonly seal: Pick<ResultSeal, 'open'>;
}

async function claimKey(
  call: Needs & Draft<KeyHeld & ReuseChecked>,
  { store, keys, seal }: ReuseParts,
  context: Context,
): Promise<Passed> {
  const { dedupeKey, session } = call;
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
    // Nothing else would release the key.
    releaseKey();
    throw error;
  }
  if (first === undefined) return hold(call, releaseKey);
  const isSame = first.argumentsSha256 === fingerprintOf(call);
  const result = isSame && first.state === 'succeeded' ? readResult(first, seal) : undefined;
  if (result !== undefined) {
    call.reused = result;
    return hold(call, releaseKey);
  }
  // Running it again is the same as running it once.
  if (isSame && first.state === 'unknown' && call.tool.definition.idempotent) return hold(call, releaseKey);
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
      remedy: 'Check whether the effect happened. If it must be done again, call with a new key.',
    },
  );
}

/** Undefined: the result was sealed with a key that is gone. */
function readResult({ sealedOutput, kept, callId }: DedupeEntry, seal: Pick<ResultSeal, 'open'>) {
  if (kept !== undefined) return { output: null, callId, kept };
  const opened = sealedOutput && seal.open(callId, sealedOutput);
  return opened && { output: opened.output, callId, kept };
}

function hold(call: Draft<KeyHeld>, releaseKey: () => void): undefined {
  call.releaseKey = releaseKey;
}

/** What a dedupe key is compared with: also the tool, because two tools may have the same arguments. */
export function fingerprintOf(call: Resolved & ArgumentsChecked): string {
  return hash('sha256', `${call.tool.definition.name} ${call.arguments.sha256}`);
}
