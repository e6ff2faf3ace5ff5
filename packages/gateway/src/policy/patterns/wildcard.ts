const star = 0x2a;
const questionMark = 0x3f;

/**
 * Whether `text[start..end)` fits the pattern: `*` is any text, `?` one character, the rest stands for itself. Only the
 * last `*` is ever tried again, so hostile text costs at most its length times the length of the pattern.
 */
export function matchesWildcard(pattern: string, text: string, start = 0, end = text.length): boolean {
  let p = 0;
  let t = start;
  let lastStar = -1;
  let retryFrom = start;
  while (t < end) {
    const wanted = p < pattern.length ? pattern.charCodeAt(p) : -1;
    if (wanted === star) {
      lastStar = p++;
      retryFrom = t;
    } else if (wanted === questionMark) {
      p++;
      t += characterLength(text, t);
    } else if (wanted === text.charCodeAt(t)) {
      p++;
      t++;
    } else if (lastStar >= 0) {
      p = lastStar + 1;
      retryFrom += characterLength(text, retryFrom);
      t = retryFrom;
    } else {
      return false;
    }
  }
  while (p < pattern.length && pattern.charCodeAt(p) === star) p++;
  return p === pattern.length;
}

/** A character outside the basic plane takes two units; `?` counts it once, as a person does. */
function characterLength(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}
