import type { TagKey, Verifier } from './checkpoint.ts';
import { CheckpointWalk } from './checkpoint-walk.ts';
import { FindingList } from './findings.ts';
import type { Finding } from './findings.ts';
import { MerkleFrontier } from './merkle.ts';
import type { PackedRecords } from './packed-records.ts';
import type { IndexRange } from './removals.ts';
import type { StoredCheckpoint, StoredRecord } from './record.ts';
import { RecordJudge } from './record-judge.ts';

/**
 * A log to be judged. Both must show the same moment (one read transaction): a checkpoint newer than the records
 * looks like a truncated log. Nothing in them is trusted.
 */
export interface LogSource {
  /** By rising index. */
  readonly records: () => Iterable<StoredRecord>;
  /** The same records, most of them packed. Absent: they come one by one. */
  readonly packedRecords?: () => Iterable<PackedRecords | StoredRecord>;
  /** By rising size. */
  readonly checkpoints: () => Iterable<StoredCheckpoint>;
  /** Whether the archive file that should have the payload of this record was read. Absent: none was. */
  readonly hasArchiveOf?: (index: number) => boolean;
}

export interface LogKeys {
  readonly verifier: Verifier;
  /** Absent: the name of the key, which is what the gate uses. */
  readonly origin?: string;
  /** Held only where the signing key is. Absent: records after the last checkpoint cannot be told from forged ones. */
  readonly tagKey?: TagKey;
}

export interface VerifyOptions {
  /** Notes of checkpoints that were kept outside the store. Without them a cut-off end can go unseen. */
  readonly remembered?: readonly string[];
  /** Called now and then with the number of records read. */
  readonly onProgress?: (recordsRead: number) => void;
}

export interface LogReport {
  /** Nothing was found. Says nothing about what happened after the last checkpoint that somebody else holds. */
  readonly ok: boolean;
  /** One past the last record. */
  readonly size: number;
  /** Records, from the first, that a signed checkpoint proves. */
  readonly checkpointSize: number;
  /** The note that proves them: keep it elsewhere and bring it next time. Absent: nothing is proven. */
  readonly checkpoint?: string;
  /** Records after the checkpoint that have a valid tag. */
  readonly coveredByTags: number;
  /** Records whose payload and salt the gate erased, as the log itself says. Their leaves still count. */
  readonly erased: number;
  /** Which ones: the first thousand ranges. */
  readonly erasedRanges: readonly IndexRange[];
  /** Records whose payload and salt are in a file that was not available. Their leaves still count. */
  readonly archived: number;
  /** Of the tree over the records as they were read. */
  readonly root: Buffer;
  /** The first hundred, in the order of the log. */
  readonly findings: readonly Finding[];
  readonly findingCount: number;
}

const maxFindings = 100;
const recordsPerProgress = 65_536;

/** Reads the whole log once, in bounded memory. Throws only when the source does. */
export function verifyLog(source: LogSource, keys: LogKeys, options: VerifyOptions = {}): LogReport {
  const { verifier, origin = verifier.name, tagKey } = keys;
  const { remembered = [], onProgress } = options;
  const findings = new FindingList(maxFindings);
  const walk = new CheckpointWalk({ stored: source.checkpoints(), remembered, verifier, origin }, findings);
  const judge = new RecordJudge(tagKey, findings);
  const tree = new MerkleFrontier();
  let size = 0;
  /** Whether the record is the next one, or one after a gap: then its hash belongs in the tree. */
  const take = (index: number): boolean => {
    if (!Number.isSafeInteger(index) || index < size) {
      findings.add('record-moved', size, size, (_, at) => `Record ${index} stands where record ${at} belongs.`, index);
      return false;
    }
    if (index > size) findings.add('record-missing', size, index - 1, (records) => `${records}: missing.`);
    if (walk.compareUpTo(index, tree)) judge.tagged = 0;
    size = index + 1;
    return true;
  };
  const append = (leafHash: Uint8Array): void => {
    tree.append(leafHash);
    if (tree.size % recordsPerProgress === 0) onProgress?.(tree.size);
  };
  for (const read of source.packedRecords?.() ?? source.records()) {
    if ('leaf' in read) {
      if (take(read.index)) append(judge.judge(read));
      continue;
    }
    let offset = 0;
    for (const [at, index] of read.indexes.entries()) {
      const end = offset + (read.lengths[at] as number);
      if (take(index)) append(judge.judgePacked(index, read.bytes, offset, end));
      offset = end;
    }
  }
  if (walk.compareUpTo(size, tree)) judge.tagged = 0;
  walk.finish(size);
  judge.finish(size, walk);
  const removed = judge.finishRemovals(size, walk, source.hasArchiveOf);
  onProgress?.(tree.size);
  return {
    ok: findings.count === 0,
    size,
    checkpointSize: walk.provenSize,
    ...(walk.provenNote === undefined ? {} : { checkpoint: walk.provenNote }),
    coveredByTags: judge.tagged,
    ...removed,
    root: tree.root(),
    findings: findings.list(),
    findingCount: findings.count,
  };
}
