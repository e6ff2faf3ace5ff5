/** Above this, native search may take quadratic time on hostile input (measured: 16 s for 10 KB in 2 MB). */
const maxNativeWork = 1 << 24;
const bytesPerBreak = 1 << 18;

export interface MatchCount {
  readonly count: number;
  /** Where the first match begins; -1 without one. */
  readonly first: number;
}

/**
 * How often a text occurs in another, overlapping matches included: "aa" is twice in "aaa", so it names no single
 * place. Linear in the sizes, whatever they hold.
 */
export async function countMatches(text: Buffer, wanted: Buffer, takeBreak: () => Promise<void>): Promise<MatchCount> {
  if (text.length * wanted.length <= maxNativeWork) return countNatively(text, wanted);
  const borders = await findBorders(wanted, takeBreak);
  let count = 0;
  let first = -1;
  let matched = 0;
  for (let at = 0; at < text.length; at++) {
    if (at % bytesPerBreak === 0) await takeBreak();
    while (matched > 0 && text[at] !== wanted[matched]) matched = borders[matched - 1] ?? 0;
    if (text[at] === wanted[matched]) matched++;
    if (matched < wanted.length) continue;
    if (count++ === 0) first = at - wanted.length + 1;
    matched = borders[matched - 1] ?? 0;
  }
  return { count, first };
}

function countNatively(text: Buffer, wanted: Buffer): MatchCount {
  const first = text.indexOf(wanted);
  let count = 0;
  for (let at = first; at !== -1; at = text.indexOf(wanted, at + 1)) count++;
  return { count, first };
}

/** For each prefix the length of its longest proper border (Knuth, Morris and Pratt). */
async function findBorders(wanted: Buffer, takeBreak: () => Promise<void>): Promise<Int32Array> {
  const borders = new Int32Array(wanted.length);
  let length = 0;
  for (let at = 1; at < wanted.length; at++) {
    if (at % bytesPerBreak === 0) await takeBreak();
    while (length > 0 && wanted[at] !== wanted[length]) length = borders[length - 1] ?? 0;
    if (wanted[at] === wanted[length]) length++;
    borders[at] = length;
  }
  return borders;
}
