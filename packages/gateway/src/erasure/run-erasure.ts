import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseRanges } from '@sallyport/log';
import type { IndexRange } from '@sallyport/log';
import type { ArchiveFolder } from '../storage/archive/archive-folder.ts';
import type { Erasure, ErasureRepository, ErasedRows } from '../storage/stores.ts';
import { chooseRecords, readPayload, sessionsOf } from './choose-records.ts';
import type { ChooserParts } from './choose-records.ts';
import { tellsOf } from './forget-lines.ts';

export interface ErasureParts extends ChooserParts {
  readonly store: ChooserParts['store'] & ErasureRepository;
  readonly trashFolder: string;
  readonly content: {
    /** Removes the content, unless something permanent refers to it. */
    readonly erase: (hash: string) => Promise<void>;
    /** Removes files without an entry, which a crash may have left. */
    readonly dropUnknown: () => Promise<void>;
  };
  readonly archive: Pick<ArchiveFolder, 'erase'>;
  /** Removes erased entries from the search index. */
  readonly forgetInIndex: () => Promise<void>;
  /** Removes lines from the logs of the daemon and of its calls. */
  readonly dropLines: (isDropped: (line: string) => boolean) => Promise<void>;
  readonly nowMs: () => number;
}

/** A pause between two portions, so that calls do not wait. */
const pauseMs = 5;

/**
 * Carries out an erasure. Every step can be repeated, and references are removed after what they refer to: after a
 * crash the next start begins again, and nothing stays half erased.
 */
export async function runErasure(erasure: Erasure, parts: ErasureParts, signal: AbortSignal): Promise<void> {
  const { store, content } = parts;
  const rows = await rowsOf(erasure, parts);
  // The files before the rows that name them.
  for (const name of await store.listKeptOnlyFor(rows)) {
    await rm(join(parts.trashFolder, basename(name)), { recursive: true, force: true });
  }
  await store.eraseRows(rows);
  for (const hash of await hashesOf(erasure, rows, parts)) await content.erase(hash);
  await content.dropUnknown();
  for await (const { indexes, nextIndex } of chooseRecords(erasure, parts)) {
    signal.throwIfAborted();
    await store.erasePayloads(erasure.id, { indexes, nextIndex, atMs: parts.nowMs() });
    await sleep(pauseMs);
  }
  parts.archive.erase(await rangesErasedBy(erasure, parts));
  await parts.forgetInIndex();
  await parts.dropLines(tellsOf(rows));
  await store.compact({ isRoutine: erasure.requestedBy === undefined });
  signal.throwIfAborted();
  await store.endErasure(erasure.id, parts.nowMs());
}

async function rowsOf({ subject, startedAtMs = 0 }: Erasure, { store }: ErasureParts): Promise<ErasedRows> {
  return {
    callIds: subject.kind === 'call' ? subject.callIds : [],
    decisionIds: subject.kind === 'call' ? subject.decisionIds : [],
    sessionIds: await sessionsOf(subject, store),
    ...(subject.kind === 'before' ? { beforeMs: subject.timeMs } : {}),
    untilMs: startedAtMs,
  };
}

async function hashesOf({ subject }: Erasure, rows: ErasedRows, { store }: ErasureParts): Promise<readonly string[]> {
  if (subject.kind === 'call') return subject.contentHashes;
  return store.listContentOnlyFor(rows);
}

const perRead = 500;

/** From the log, because a part of it may have been erased before a crash. */
async function rangesErasedBy({ id, untilIndex }: Erasure, { store }: ErasureParts): Promise<readonly IndexRange[]> {
  const ranges: IndexRange[] = [];
  for (let next = untilIndex; ;) {
    const records = await store.readRecords(next, perRead);
    const last = records.at(-1);
    if (last === undefined) return ranges;
    next = last.index + 1;
    for (const record of records) {
      if (record.payload?.startsWith('{"event":"payloads_erased"') !== true) continue;
      const { erasure, records: told } = readPayload(record);
      if (erasure === id && typeof told === 'string') ranges.push(...(parseRanges(told) ?? []));
    }
  }
}
