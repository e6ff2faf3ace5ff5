export const findingKinds = [
  'payload-changed',
  'payload-missing',
  'payload-restored',
  'removal-invalid',
  'leaf-changed',
  'tag-changed',
  'record-missing',
  'record-moved',
  'record-appended',
  'log-truncated',
  'checkpoint-invalid',
  'checkpoint-origin',
  'checkpoint-root',
  'checkpoint-order',
] as const;
export type FindingKind = (typeof findingKinds)[number];

/** One thing that is not as the gate left it. The range includes both ends. */
export interface Finding {
  readonly kind: FindingKind;
  readonly fromIndex: number;
  readonly toIndex: number;
  readonly message: string;
}

/** Says what happened to `records`, which reads `Record 7` or `Records 7 to 9`. */
type Describe = (records: string, fromIndex: number, toIndex: number) => string;

interface Draft {
  readonly kind: FindingKind;
  readonly fromIndex: number;
  toIndex: number;
  readonly describe: Describe;
  readonly group: number | string;
}

/** Collects findings, joins neighbours of one kind to a range, and keeps the first ones: a ruined log has millions. */
export class FindingList {
  readonly #maxKept: number;
  readonly #kept: Draft[] = [];
  readonly #latest = new Map<FindingKind, Draft>();
  #count = 0;

  constructor(maxKept: number) {
    this.#maxKept = maxKept;
  }

  /** All of them, kept or not. */
  get count(): number {
    return this.#count;
  }

  /** Ranges that touch become one when kind and `group` are the same; the first `describe` then speaks for all. */
  add(kind: FindingKind, fromIndex: number, toIndex: number, describe: Describe, group: number | string = ''): void {
    const latest = this.#latest.get(kind);
    if (latest?.group === group && latest.toIndex + 1 === fromIndex) {
      latest.toIndex = toIndex;
      return;
    }
    const draft: Draft = { kind, fromIndex, toIndex, describe, group };
    this.#latest.set(kind, draft);
    this.#count += 1;
    if (this.#kept.length < this.#maxKept) this.#kept.push(draft);
  }

  /** In the order of the log. */
  list(): Finding[] {
    const inOrder = this.#kept.toSorted((a, b) => a.fromIndex - b.fromIndex);
    return inOrder.map(({ kind, fromIndex, toIndex, describe }) => {
      const records = fromIndex === toIndex ? `Record ${fromIndex}` : `Records ${fromIndex} to ${toIndex}`;
      return { kind, fromIndex, toIndex, message: describe(records, fromIndex, toIndex) };
    });
  }
}
