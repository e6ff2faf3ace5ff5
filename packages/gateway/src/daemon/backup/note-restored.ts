import { hash } from 'node:crypto';
import type { Store } from '../../storage/stores.ts';
import { readRestored } from './back-up-home.ts';
import type { Home } from '../home/home.ts';

export interface RestoredParts {
  readonly store: Pick<Store, 'liveSessions' | 'findSessionByToken' | 'endSession'>;
  readonly operatorToken: string;
  readonly recordEvent: (event: string, more: { readonly reason: string }) => Promise<unknown>;
}

/**
 * The first start after a restore. Sessions, and people, may have been revoked after the backup was made, so all of them
 * end but the operator of this home; and the log says that it goes on from a backup.
 */
export async function noteRestored(home: Home, { store, operatorToken, recordEvent }: RestoredParts): Promise<void> {
  const restored = readRestored(home);
  if (restored === undefined) return;
  const own = store.findSessionByToken(hash('sha256', operatorToken))?.id;
  const ended = store.liveSessions().filter(({ id }) => id !== own);
  for (const { id } of ended) await store.endSession(id);
  const { madeAtMs, records } = restored.note;
  const made = new Date(madeAtMs).toISOString();
  await recordEvent('gate_restored', {
    reason: `from a backup of ${made} with ${records} records; ${ended.length} sessions were ended`,
  });
  restored.done();
}
