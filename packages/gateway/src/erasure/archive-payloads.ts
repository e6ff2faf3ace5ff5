import { setTimeout as sleep } from 'node:timers/promises';
import { decodeLeaf } from '@sallyport/log';
import type { StoredRecord } from '@sallyport/log';
import type { ArchiveFolder } from '../storage/archive/archive-folder.ts';
import type { ErasureRepository, RecordRepository } from '../storage/stores.ts';

export interface ArchiveParts {
  readonly store: Pick<RecordRepository, 'logSize' | 'readStored'> & Pick<ErasureRepository, 'archivePayloads'>;
  readonly archive: Pick<ArchiveFolder, 'write'>;
  readonly nowMs: () => number;
}

/** Records in one file, all of which is read when one of its records is needed. */
const perFile = 1000;
const newerInRow = 1000;
const pauseMs = 5;

/**
 * Moves payloads and salts of records from before this moment into files. The file is on disk before they leave the
 * database; after a crash in between both have them, and the next run continues. Records that say what was removed
 * stay.
 */
export async function archivePayloads(
  { beforeMs, by, signal }: { readonly beforeMs: number; readonly by: string; readonly signal: AbortSignal },
  { store, archive, nowMs }: ArchiveParts,
): Promise<{ readonly records: number; readonly files: readonly string[] }> {
  const files: string[] = [];
  let waiting: StoredRecord[] = [];
  let [records, newer] = [0, 0];
  const write = async (): Promise<void> => {
    if (waiting.length === 0) return;
    const file = archive.write(waiting);
    const indexes = waiting.map(({ index }) => index);
    await store.archivePayloads({ indexes, file, by, atMs: nowMs() });
    files.push(file);
    records += waiting.length;
    waiting = [];
    await sleep(pauseMs);
  };
  const end = await store.logSize();
  for (let next = 0; next < end && newer < newerInRow; next += perFile) {
    signal.throwIfAborted();
    for (const record of await store.readStored(next, Math.min(perFile, end - next))) {
      const isOld = decodeLeaf(record.leaf).timeMs < beforeMs;
      newer = isOld ? 0 : newer + 1;
      const isRemoval = record.payload?.startsWith('{"event":"payloads_') === true;
      if (isOld && record.payload !== undefined && !isRemoval) waiting.push(record);
    }
    if (waiting.length >= perFile / 2) await write();
  }
  await write();
  return { records, files };
}
