import { isTagOf } from './checkpoint.ts';
import type { TagKey } from './checkpoint.ts';
import type { CheckpointWalk } from './checkpoint-walk.ts';
import type { FindingList } from './findings.ts';
import { checkLeaf, commitsTo, isLeafOf, saltBytes } from './leaf.ts';
import { hashBytes, hashLeaf, sha256 } from './merkle.ts';
import { erasedRecordBytes, hashedLeafBytes } from './packed-records.ts';
import type { StoredRecord } from './record.ts';
import { removalBeginning } from './removals.ts';
import { RemovedPayloads } from './removed-payloads.ts';
import { TagMisfits } from './tag-misfits.ts';

interface RecordParts {
  readonly leaf: Uint8Array;
  readonly leafHash: Buffer;
  readonly isErased: boolean;
  readonly tag: Uint8Array;
  /** The payload, if it records a removal from the log. Absent: it is about something else. */
  readonly removal?: string | undefined;
}

const eventKind = 4;
const removalBytes = Buffer.from(removalBeginning);

/** Judges each record by itself: the form of its leaf, its payload, its tag. */
export class RecordJudge {
  readonly #findings: FindingList;
  readonly #tagKey: TagKey | undefined;
  readonly #misfits: TagMisfits | undefined;
  /** Records with a valid tag since this was last set to 0. */
  tagged = 0;
  readonly #removed = new RemovedPayloads();

  constructor(tagKey: TagKey | undefined, findings: FindingList) {
    this.#findings = findings;
    this.#tagKey = tagKey;
    this.#misfits = tagKey && new TagMisfits(tagKey);
  }

  /** Returns the hash of the leaf as it was found. */
  judge(record: StoredRecord): Buffer {
    const leaf = asBytes(record.leaf);
    const leafHash = hashLeaf(leaf);
    const isErased = record.salt === undefined && record.payload === undefined;
    const removal = isRemoval(leaf, record.payload) ? record.payload : undefined;
    const parts = { leaf, leafHash, isErased, tag: asBytes(record.tag), removal };
    this.#judgeParts(record.index, parts, () => matchesPayload(record, leaf));
    return leafHash;
  }

  /** The same for the packed record from `start` to `end`. */
  judgePacked(index: number, bytes: Buffer, start: number, end: number): Buffer {
    const leafEnd = start + hashedLeafBytes;
    const hashed = bytes.subarray(start, leafEnd);
    const leafHash = sha256(hashed);
    const isErased = end - start === erasedRecordBytes;
    const tag = bytes.subarray(end - hashBytes, end);
    const leaf = hashed.subarray(1);
    const matches = (): boolean => commitsTo(leaf, bytes.subarray(leafEnd, end - hashBytes));
    const removal = isErased ? undefined : removalIn(bytes, start, end);
    this.#judgeParts(index, { leaf, leafHash, isErased, tag, removal }, isErased ? () => true : matches);
    return leafHash;
  }

  #judgeParts(index: number, { leaf, leafHash, isErased, tag, removal }: RecordParts, matches: () => boolean): void {
    if (isErased) this.#removed.noteGone(index);
    const malformed = describeMalformed(leaf);
    if (malformed !== undefined) {
      const describe = (records: string) => `${records}: no leaf of the gate, as ${malformed}.`;
      this.#findings.add('leaf-changed', index, index, describe, malformed);
      return;
    }
    const isWhole = matches();
    if (!isWhole) {
      this.#findings.add('payload-changed', index, index, (records) => `${records}: payload and leaf do not match.`);
    }
    const isTagged = this.#tagKey !== undefined && isTagOf(tag, this.#tagKey, index, leafHash);
    if (isWhole && removal !== undefined) this.#removed.noteTold(index, removal, { isTagged });
    if (this.#tagKey === undefined) return;
    if (isTagged) this.tagged += 1;
    else this.#misfits?.add(index, leafHash, tag);
  }

  /** Which payloads were removed, and whether the log says so. After `finish`. */
  finishRemovals(
    size: number,
    { provenSize }: CheckpointWalk,
    hasArchiveOf: (index: number) => boolean = () => false,
  ): ReturnType<RemovedPayloads['finish']> {
    return this.#removed.finish({ size, provenSize, hasArchiveOf }, this.#findings);
  }

  /** The meaning of a bad tag depends on whether a checkpoint proves the leaf, refutes it, or does not cover it. */
  finish(size: number, { provenSize, signedSize }: CheckpointWalk): void {
    const findings = this.#findings;
    if (this.#misfits === undefined) {
      if (size > signedSize) findings.add('record-appended', signedSize, size - 1, describeUnsigned);
      return;
    }
    const addPart: FindingList['add'] = (kind, from, to, describe) => {
      if (from <= to) findings.add(kind, from, to, describe);
    };
    const { rows, unkept } = this.#misfits.finish();
    for (const { fromIndex, toIndex, shift } of rows) {
      if (shift !== undefined) {
        findings.add('record-moved', fromIndex, toIndex, describeMove(shift), shift);
        continue;
      }
      addPart('tag-changed', fromIndex, Math.min(toIndex, provenSize - 1), describeTag);
      addPart('leaf-changed', Math.max(fromIndex, provenSize), Math.min(toIndex, signedSize - 1), describeChanged);
      addPart('record-appended', Math.max(fromIndex, provenSize, signedSize), toIndex, describeAppended);
    }
    if (unkept !== undefined) findings.add('leaf-changed', unkept.fromIndex, unkept.toIndex, describeMany);
  }
}

function isRemoval(leaf: Uint8Array, payload: string | undefined): boolean {
  return leaf[1] === eventKind && typeof payload === 'string' && payload.startsWith(removalBeginning);
}

/** Of a packed record: after its leaf, a byte and the salt. */
function removalIn(bytes: Buffer, start: number, end: number): string | undefined {
  if (bytes[start + 2] !== eventKind) return undefined;
  const from = start + hashedLeafBytes + 1 + saltBytes;
  if (bytes.compare(removalBytes, 0, removalBytes.length, from, from + removalBytes.length) !== 0) return undefined;
  return bytes.toString('utf8', from, end - hashBytes);
}

function describeUnsigned(records: string): string {
  return `${records}: beyond the last checkpoint, and without the tag key nothing shows that the gate wrote them.`;
}

function describeMove(shift: number): (records: string, fromIndex: number, toIndex: number) => string {
  return (_, from, to) =>
    from === to
      ? `Record ${from + shift} stands at place ${from}.`
      : `Records ${from + shift} to ${to + shift} stand at places ${from} to ${to}.`;
}

function describeTag(records: string): string {
  return `${records}: the tag was changed; a checkpoint proves the leaf.`;
}

function describeChanged(records: string): string {
  return `${records}: not what the gate wrote there; leaf or tag was changed.`;
}

function describeAppended(records: string): string {
  return `${records}: not written by the gate, or changed before a checkpoint covered it.`;
}

function describeMany(records: string): string {
  return `${records}: many of them are not what the gate wrote there.`;
}

function describeMalformed(leaf: Uint8Array): string | undefined {
  try {
    checkLeaf(leaf);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** A payload that is gone matches every leaf: whether the gate erased it is for `RemovedPayloads` to say. */
export function matchesPayload({ salt, payload }: StoredRecord, leaf: Uint8Array): boolean {
  if (salt === undefined && payload === undefined) return true;
  if (asBytes(salt).length !== saltBytes || typeof payload !== 'string' || !payload.isWellFormed()) return false;
  return isLeafOf(leaf, asBytes(salt), payload);
}

// Anyone with a shell can put a text where the database should have bytes.
function asBytes(value: unknown): Uint8Array {
  return value instanceof Uint8Array ? value : noBytes;
}

const noBytes = new Uint8Array();
