import { randomUUIDv7 } from 'node:crypto';
import { decodeLeaf } from '@sallyport/log';
import { ownText } from '../call/redacted.ts';
import type { Erasure, ErasureRepository, RecordRepository, Retention } from '../storage/stores.ts';

export interface RetentionParts {
  readonly store: Pick<ErasureRepository, 'listErasures' | 'noteRetention' | 'readRetention' | 'requestErasure'> &
    Pick<RecordRepository, 'readRecords'>;
  /** How many days payloads are kept, as the rules say. Undefined: for ever. */
  readonly keepDays: () => number | undefined;
  readonly nowMs: () => number;
}

export const dayMs = 86_400_000;
/** Erasing is final, so there is a day to notice a mistake: in a request, and in a new number of days. */
export const delayMs = dayMs;
const mostLooked = 1000;

/**
 * Requests the erasure of old payloads as the rules say, once a day. A new number of days takes effect a day after it
 * was first seen; until then nothing is erased by age.
 */
export async function followRetention({ store, keepDays, nowMs }: RetentionParts): Promise<void> {
  const days = keepDays();
  const noted = await store.readRetention();
  if (noted?.days !== days && (noted !== undefined || days !== undefined)) {
    return store.noteRetention({ ...(days === undefined ? {} : { days }), sinceMs: nowMs() });
  }
  if (noted?.days === undefined || nowMs() < effectiveMs(noted)) return;
  const last = await lastByAge(store);
  if (last !== undefined && (last.status !== 'done' || nowMs() - last.requestedAtMs < dayMs)) return;
  const timeMs = nowMs() - noted.days * dayMs;
  const fromIndex = last?.nextIndex ?? 0;
  const [oldest] = await store.readRecords(fromIndex, 1);
  if (oldest === undefined || decodeLeaf(oldest.leaf).timeMs >= timeMs) return;
  await store.requestErasure({
    id: randomUUIDv7(),
    subject: { kind: 'before', timeMs },
    reason: ownText(`the rules keep payloads for ${noted.days} days`),
    requestedAtMs: nowMs(),
    dueAtMs: nowMs(),
    fromIndex,
  });
}

/** When payloads begin to be erased by age. */
export function effectiveMs({ sinceMs }: Retention): number {
  return sinceMs + delayMs;
}

/** The last erasure that the rules asked for. */
export async function lastByAge(store: Pick<ErasureRepository, 'listErasures'>): Promise<Erasure | undefined> {
  return (await store.listErasures(mostLooked)).find(({ requestedBy }) => requestedBy === undefined);
}
