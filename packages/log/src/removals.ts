/** Both ends are included. */
export type IndexRange = readonly [from: number, to: number];

/** Payloads that the gate removed from the log on purpose. A record of the log says so, and is never erased. */
export interface Removal {
  /** `archived`: salts and payloads are in a file. */
  readonly kind: 'erased' | 'archived';
  readonly ranges: readonly IndexRange[];
}

const events = { payloads_erased: 'erased', payloads_archived: 'archived' } as const;
/** Every payload of a removal begins with this, and no other does. */
export const removalBeginning = '{"event":"payloads_';
const oneRange = /^(\d{1,15})(?:-(\d{1,15}))?$/;

/** The indexes as ranges. They must be in rising order. */
export function rangesOf(indexes: Iterable<number>): IndexRange[] {
  const ranges: [number, number][] = [];
  for (const index of indexes) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] + 1 === index) last[1] = index;
    else ranges.push([index, index]);
  }
  return ranges;
}

/** `0-3,7`: as a removal names its records. */
export function spellRanges(ranges: readonly IndexRange[]): string {
  return ranges.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(',');
}

/** Undefined: the text is not a list of ranges in rising order. */
export function parseRanges(text: string): readonly IndexRange[] | undefined {
  const ranges: IndexRange[] = [];
  let next = 0;
  for (const part of text.split(',')) {
    const [, first = '', last = first] = oneRange.exec(part) ?? [];
    const range = [Number(first), Number(last)] as const;
    if (first === '' || range[0] < next || range[1] < range[0]) return undefined;
    ranges.push(range);
    next = range[1] + 1;
  }
  return ranges;
}

/**
 * What the payload of an event at `index` says was removed. Undefined: it is no such event, or names a later record.
 */
export function parseRemoval(payload: string, index: number): Removal | undefined {
  if (!payload.startsWith(removalBeginning)) return undefined;
  try {
    const { event, records } = JSON.parse(payload) as Record<string, unknown>;
    const kind = events[event as keyof typeof events];
    const ranges = typeof records === 'string' ? parseRanges(records) : undefined;
    const last = ranges?.at(-1)?.[1] ?? index;
    return kind === undefined || ranges === undefined || last >= index ? undefined : { kind, ranges };
  } catch {
    return undefined;
  }
}

export function covers({ ranges }: Removal, index: number): boolean {
  return ranges.some(([from, to]) => from <= index && index <= to);
}
