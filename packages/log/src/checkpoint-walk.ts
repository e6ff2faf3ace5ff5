import { CheckpointError, openCheckpoint } from './checkpoint.ts';
import type { Checkpoint, Verifier } from './checkpoint.ts';
import type { FindingList } from './findings.ts';
import type { MerkleFrontier } from './merkle.ts';
import type { StoredCheckpoint } from './record.ts';

interface SignedCheckpoint extends Checkpoint {
  readonly note: string;
  /** From outside the store, out of reach of somebody who changed the store. */
  readonly remembered: boolean;
}

export interface CheckpointSource {
  readonly stored: Iterable<StoredCheckpoint>;
  readonly remembered: readonly string[];
  readonly verifier: Verifier;
  readonly origin: string;
}

/** Goes through the checkpoints beside the records, smallest first, and compares each with the tree of its size. */
export class CheckpointWalk {
  readonly #findings: FindingList;
  readonly #signed: Iterator<SignedCheckpoint>;
  #next: SignedCheckpoint | undefined;
  #rememberedSize = 0;
  readonly #mismatchesFrom = { stored: -1, remembered: -1 };

  /** Every record below this one is proven by a checkpoint. */
  provenSize = 0;
  /** The note that proves them. Absent: nothing is proven. */
  provenNote: string | undefined;
  /** The largest size with a valid signature, whether the records match it or not. */
  signedSize = 0;

  constructor(source: CheckpointSource, findings: FindingList) {
    this.#findings = findings;
    const remembered = openRemembered(source, findings);
    this.#signed = mergeBySize(openStored(source, findings), remembered.values());
    this.#advance();
  }

  /** Call before the record of place `size` is appended to the tree. True when a checkpoint proved records. */
  compareUpTo(size: number, tree: MerkleFrontier): boolean {
    let proved = false;
    for (let next = this.#next; next !== undefined && next.size <= size; next = this.#next) {
      // After a gap the tree is smaller than the place says, and no later root can match.
      if (tree.size === next.size && tree.root().equals(next.root)) {
        proved = true;
        this.provenSize = next.size;
        this.provenNote = next.note;
        if (next.remembered) this.#rememberedSize = next.size;
      } else {
        this.#reportMismatch(next);
      }
      this.#advance();
    }
    return proved;
  }

  /** Call after the last record: whatever was signed over more than `size` records has lost some. */
  finish(size: number): void {
    let largest: SignedCheckpoint | undefined;
    for (; this.#next !== undefined; this.#advance()) largest = this.#next;
    if (largest === undefined) return;
    const { size: signedSize, remembered } = largest;
    const where = remembered ? 'a checkpoint kept outside the store' : 'a checkpoint in the store';
    this.#findings.add(
      'log-truncated',
      size,
      signedSize - 1,
      (records) => `${records}: gone from the end of the log; ${where} was signed over ${signedSize} records.`,
    );
  }

  #reportMismatch(checkpoint: SignedCheckpoint): void {
    const { size, remembered } = checkpoint;
    // A stored match does not outweigh a remembered mismatch: a holder of the key can sign anything.
    const provenFrom = remembered ? this.#rememberedSize : this.provenSize;
    const source = remembered ? 'remembered' : 'stored';
    // Once a record differs, every later root differs too, so it is reported once.
    if (this.#mismatchesFrom[source] === provenFrom) return;
    this.#mismatchesFrom[source] = provenFrom;
    const toIndex = Math.max(0, size - 1);
    this.#findings.add('checkpoint-root', Math.min(provenFrom, toIndex), toIndex, (records) =>
      remembered
        ? `${records}: not the history of the checkpoint over ${size} records that was kept outside the store.`
        : `${records}: not what was signed in the checkpoint over ${size} records; later ones cannot match either.`,
    );
  }

  #advance(): void {
    const result = this.#signed.next();
    this.#next = result.done ? undefined : result.value;
    this.signedSize = Math.max(this.signedSize, this.#next?.size ?? 0);
  }
}

function* openStored(source: CheckpointSource, findings: FindingList): Generator<SignedCheckpoint> {
  let signedBefore = 0;
  let storedBefore = 0;
  for (const { size, note } of source.stored) {
    const opened = open(note, source, size);
    const toIndex = Number.isSafeInteger(size) && size > 0 ? size - 1 : 0;
    if ('reason' in opened) {
      const describe = (records: string) => `${records}: the checkpoint over them proves nothing, as ${opened.reason}.`;
      findings.add(opened.kind, Math.min(storedBefore, toIndex), toIndex, describe, opened.reason);
    } else if (size < signedBefore) {
      const message = `The checkpoint over ${size} records comes after one over ${signedBefore}.`;
      findings.add('checkpoint-order', toIndex, toIndex, () => message, message);
    } else {
      signedBefore = size;
      yield { ...opened, note, remembered: false };
    }
    storedBefore = toIndex + 1;
  }
}

function openRemembered(source: CheckpointSource, findings: FindingList): SignedCheckpoint[] {
  const accepted: SignedCheckpoint[] = [];
  for (const note of source.remembered) {
    const opened = open(note, source);
    if ('reason' in opened) {
      const message = `A checkpoint kept outside the store proves nothing, as ${opened.reason}.`;
      findings.add(opened.kind, 0, 0, () => message, message);
    } else {
      accepted.push({ ...opened, note, remembered: true });
    }
  }
  return accepted.toSorted((a, b) => a.size - b.size);
}

interface Unproven {
  readonly kind: 'checkpoint-invalid' | 'checkpoint-origin';
  readonly reason: string;
}

/** `storedSize` is what the row beside the note says. Absent: there is only the note. */
function open(note: string, source: CheckpointSource, storedSize?: number): Checkpoint | Unproven {
  try {
    const checkpoint = openCheckpoint(note, source.verifier);
    const { origin, size } = checkpoint;
    if (origin !== source.origin) {
      return { kind: 'checkpoint-origin', reason: `it is of the log ${origin}, not of ${source.origin}` };
    }
    if (size === (storedSize ?? size)) return checkpoint;
    return { kind: 'checkpoint-invalid', reason: `it was signed for ${size} records` };
  } catch (error) {
    if (!(error instanceof CheckpointError)) throw error;
    return { kind: 'checkpoint-invalid', reason: error.message };
  }
}

function* mergeBySize(a: Iterator<SignedCheckpoint>, b: Iterator<SignedCheckpoint>): Generator<SignedCheckpoint> {
  let left = a.next();
  let right = b.next();
  while (!left.done || !right.done) {
    if (right.done || (!left.done && left.value.size <= right.value.size)) {
      yield (left as IteratorYieldResult<SignedCheckpoint>).value;
      left = a.next();
    } else {
      yield right.value;
      right = b.next();
    }
  }
}
