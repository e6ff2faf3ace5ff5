import { readFileSync } from 'node:fs';
import type { Reservation } from '../../packages/gateway/src/call/call.ts';
import { openSqliteStore } from '../../packages/gateway/src/storage/sqlite/sqlite-store.ts';
import type { NewSession, Store } from '../../packages/gateway/src/storage/stores.ts';
import type { WriterOptions } from '../../packages/gateway/src/storage/sqlite/writer.ts';
import { admissionFor, outcomeFor } from './entries.ts';

export interface Job {
  readonly options: WriterOptions;
  readonly session: NewSession;
}

const lanes = 16;

/** Windows so long that none ends during a test. */
export const limits: readonly Reservation[] = [1, 2].map((years) => ({
  key: 'calls of the test',
  windowMs: years * 365 * 86_400_000,
  limit: Number.MAX_SAFE_INTEGER,
  rule: 'test',
}));

/** One call whose outcome is known; returns its id. */
export async function makeCall(store: Store, session: NewSession, beforeOutcome?: () => void): Promise<string> {
  const admission = { ...admissionFor(session), reservations: limits };
  const admitted = await store.admit(admission);
  if (!admitted.admitted) throw new Error(`not admitted: ${admitted.because}`);
  beforeOutcome?.();
  const charge = { sessionId: session.id, leaseId: session.lease.id, activeMs: 3, tokens: 2, costMicros: 1 };
  await store.settle({ outcome: outcomeFor(admission), charge });
  return admission.intent.callId;
}

// As a process of its own: makes calls until it is killed, and says which were acknowledged, and how far.
if (process.argv[1] === import.meta.filename) {
  const { options, session } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Job;
  const store = await openSqliteStore({ ...options, adoptState: false });
  const lane = async (): Promise<never> => {
    for (;;) {
      const callId = await makeCall(store, session, () => process.stdout.write('admitted\n'));
      process.stdout.write(`settled ${callId}\n`);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
