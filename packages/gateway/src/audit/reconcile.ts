import { isJsonObject } from '@sallyport/contract';
import type { Json } from '@sallyport/contract';
import { ownJson } from '../call/redacted.ts';
import type { Store } from '../storage/stores.ts';

export interface CutOffCall {
  readonly callId: string;
  /** Empty: the intent does not say. */
  readonly tool: string;
}

/**
 * Closes the intents that a crash left open. Whether their effect happened is not known here, and is not guessed.
 * Returns which there were.
 */
export async function reconcileIntents(
  store: Pick<Store, 'listOpenIntents' | 'readRecordsOfCall' | 'settle'>,
  nowMs: number,
): Promise<readonly CutOffCall[]> {
  const open = await store.listOpenIntents();
  return await Promise.all(
    open.map(async ({ callId, sessionId, index }) => {
      const intent = await describeIntent(store, callId);
      await store.settle({
        outcome: {
          kind: 'outcome',
          result: 'unknown',
          timeMs: nowMs,
          callId,
          sessionId,
          payload: ownJson({
            ...intent,
            intent: index,
            summary: 'cut off: the daemon ended before the outcome was recorded; the effect may have happened',
          }),
        },
      });
      return { callId, tool: intent['tool'] ?? '' };
    }),
  );
}

/** Whose call of what it was, as the intent says. Empty: its payload was erased. */
async function describeIntent(
  store: Pick<Store, 'readRecordsOfCall'>,
  callId: string,
): Promise<Record<string, string>> {
  const records = await store.readRecordsOfCall(callId);
  const payload = records.find(({ payload: text }) => text !== undefined)?.payload;
  const intent = payload === undefined ? undefined : (JSON.parse(payload) as Json);
  if (!isJsonObject(intent)) return {};
  return Object.fromEntries(
    ['tool', 'agent'].flatMap((key) => {
      const value = intent[key];
      return typeof value === 'string' ? [[key, value]] : [];
    }),
  );
}
