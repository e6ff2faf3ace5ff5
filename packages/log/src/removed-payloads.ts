import type { FindingList } from './findings.ts';
import { parseRemoval } from './removals.ts';
import type { IndexRange } from './removals.ts';

const placesPerPart = 65_536;

/** One bit for each place of the log, in parts: somebody may have put a record at any place. */
class Places {
  readonly #parts = new Map<number, Uint8Array>();

  add(from: number, to = from): void {
    for (let at = from; at <= to; at += 1) {
      const [part, bit] = [this.#partOf(Math.floor(at / placesPerPart)), at % placesPerPart];
      part[bit >> 3] = (part[bit >> 3] ?? 0) | (1 << (bit & 7));
    }
  }

  has(at: number): boolean {
    const bit = at % placesPerPart;
    const byte = this.#parts.get(Math.floor(at / placesPerPart))?.[bit >> 3] ?? 0;
    return (byte & (1 << (bit & 7))) !== 0;
  }

  get parts(): Iterable<number> {
    return this.#parts.keys();
  }

  #partOf(number: number): Uint8Array {
    const part = this.#parts.get(number) ?? new Uint8Array(placesPerPart / 8);
    this.#parts.set(number, part);
    return part;
  }
}

const mostRanges = 1000;

/**
 * Which payloads are gone, and for which of them the log has a record of the removal. Somebody else removed the others.
 */
export class RemovedPayloads {
  readonly #gone = new Places();
  /** What the records of removals say, by their place. Whether they are trusted is known at the end. */
  readonly #told: { readonly index: number; readonly payload: string; readonly isTagged: boolean }[] = [];

  noteGone(index: number): void {
    this.#gone.add(index);
  }

  /** `payload` matches its leaf. `isTagged`: the gate wrote it, as its tag shows. */
  noteTold(index: number, payload: string, { isTagged }: { readonly isTagged: boolean }): void {
    this.#told.push({ index, payload, isTagged });
  }

  /** `provenSize`: how many records, from the first, a checkpoint proves. */
  finish(
    { size, provenSize, hasArchiveOf }: { size: number; provenSize: number; hasArchiveOf: (index: number) => boolean },
    findings: FindingList,
  ) {
    const [erased, archived] = [new Places(), new Places()];
    for (const { index, payload, isTagged } of this.#told) {
      if (index >= provenSize && !isTagged) continue;
      const removal = parseRemoval(payload, index);
      if (removal === undefined) findings.add('removal-invalid', index, index, describeInvalid);
      const places = removal?.kind === 'erased' ? erased : archived;
      for (const [from, to] of removal?.ranges ?? []) places.add(from, to);
    }
    const erasedRanges: [number, number][] = [];
    let [erasedCount, archivedCount] = [0, 0];
    for (const index of placesOf(this.#gone, erased)) {
      const [isGone, isErased] = [this.#gone.has(index), erased.has(index)];
      if (isGone && isErased) {
        erasedCount += 1;
        extend(erasedRanges, index);
      } else if (isGone && archived.has(index) && !hasArchiveOf(index)) {
        archivedCount += 1;
      } else if (isGone) {
        const isArchived = archived.has(index);
        findings.add('payload-missing', index, index, isArchived ? describeLost : describeMissing, String(isArchived));
      } else if (isErased && index < size) {
        findings.add('payload-restored', index, index, describeRestored);
      }
    }
    return { erased: erasedCount, archived: archivedCount, erasedRanges: erasedRanges as readonly IndexRange[] };
  }
}

/** Places in parts that have any, by rising index. */
function* placesOf(...all: readonly Places[]): Generator<number> {
  const parts = new Set(all.flatMap((places) => [...places.parts]));
  for (const part of [...parts].toSorted((a, b) => a - b)) {
    for (let at = 0; at < placesPerPart; at += 1) yield part * placesPerPart + at;
  }
}

/** The first thousand ranges. */
function extend(ranges: [number, number][], index: number): void {
  const last = ranges.at(-1);
  if (last !== undefined && last[1] + 1 === index) last[1] = index;
  else if (ranges.length < mostRanges) ranges.push([index, index]);
}

function describeInvalid(records: string): string {
  return `${records}: tells of a removal that the gate cannot have made.`;
}

function describeMissing(records: string): string {
  return `${records}: the payload is gone, and no record of the log says that it was erased or archived.`;
}

function describeLost(records: string): string {
  return `${records}: the payload is gone from the archive, and no record of the log says that it was erased.`;
}

function describeRestored(records: string): string {
  return `${records}: the payload is there, although the log says that it was erased.`;
}
