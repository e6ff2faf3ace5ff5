import { ownJson } from '../call/redacted.ts';
import type { Store } from '../storage/stores.ts';

/**
 * Closes the intents that a crash left open. Whether their effect happened is not known here, and is not guessed.
 * Returns how many there were.
 */
export async function reconcileIntents(
  store: Pick<Store, 'listOpenIntents' | 'settle'>,
  nowMs: number,
): Promise<number> {
  const open = store.listOpenIntents();
  await Promise.all(
    open.map(({ callId, sessionId, index }) =>
      store.settle({
        outcome: {
          kind: 'outcome',
          result: 'unknown',
          timeMs: nowMs,
          callId,
          sessionId,
          payload: ownJson({
            intent: index,
            summary: 'the daemon ended before the outcome was recorded; the effect may or may not have happened',
          }),
        },
      }),
    ),
  );
  return open.length;
}
