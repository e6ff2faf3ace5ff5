import type { JournalEntry } from '../../../storage/stores.ts';
import { traceLines } from '../../../text/diff-lines.ts';

/** A file at one moment, and the call that made it what it is. */
export interface Image {
  /** Undefined: it is no longer kept, or was never text. */
  readonly text: string | undefined;
  /** Undefined: something other than a call did, or nobody knows. */
  readonly by: JournalEntry | undefined;
}

/** Where a line comes from: a call, or why that is unknown. */
export type Origin = { readonly by: JournalEntry } | { readonly reason: Reason };
export type Reason = keyof typeof reasons;

export const reasons = {
  earlier: 'It was there before the first call that is still in the journal.',
  outside: 'Something other than a call wrote it.',
  'not-kept': 'The earlier content is not kept, so nobody knows when it came.',
} as const;

/** For every line of the last image, the oldest first: which image brought it. */
export function attributeLines(images: readonly Image[]): readonly Origin[] {
  let origins: readonly Origin[] = [];
  let former: string | undefined;
  for (const [at, { text, by }] of images.entries()) {
    const isFirst = at === 0;
    if (text === undefined) {
      former = undefined;
      continue;
    }
    if (isFirst || former === undefined) {
      const reason: Reason = isFirst ? 'earlier' : 'not-kept';
      origins = traceLines('', text).map(() => ({ reason }));
    } else {
      const known = origins;
      const fresh: Origin = by === undefined ? { reason: 'outside' } : { by };
      origins = traceLines(former, text).map((from) => (from === undefined ? fresh : (known[from] ?? fresh)));
    }
    former = text;
  }
  return former === undefined ? [] : origins;
}
