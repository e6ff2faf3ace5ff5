import type { PastCall } from '../../call/verdict.ts';
import type { Store } from '../../storage/stores.ts';

/** What a session did before this daemon was started, for rules that ask about it: however much others did since. */
export function readPastCalls(store: Pick<Store, 'listToolUses'>): (sessionId: string) => Promise<readonly PastCall[]> {
  return async (sessionId) =>
    (await store.listToolUses(sessionId)).map(({ tool, lastMs }) => ({ tool, startedAtMs: lastMs }));
}
