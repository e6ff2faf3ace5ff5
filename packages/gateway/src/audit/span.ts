/** A part of a text: from `start` up to, not including, `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export const redacted = '[redacted]';

/** The first `length` characters of the text, with each span in them replaced by one mark; spans may overlap. */
export function blankSpans(text: string, spans: readonly Span[], length = text.length): string {
  if (spans.length === 0) return text.slice(0, length);
  const inOrder = [...spans].sort((a, b) => a.start - b.start);
  let shown = '';
  let at = 0;
  for (const span of inOrder) {
    const { start, end } = keepEscapesWhole(text, span);
    if (start >= length) break;
    // Overlapping spans share a mark.
    if (start >= at) shown += text.slice(at, start) + redacted;
    at = Math.max(at, end);
  }
  return shown + text.slice(at, Math.max(at, length));
}

/** In a text of JSON a mark must not leave half of an escape on either side. */
function keepEscapesWhole(text: string, { start, end }: Span): Span {
  const from = countBackslashesBefore(text, start) % 2 === 1 ? start - 1 : start;
  const to = end < text.length && countBackslashesBefore(text, end) % 2 === 1 ? end + 1 : end;
  return { start: from, end: to };
}

function countBackslashesBefore(text: string, at: number): number {
  let count = 0;
  while (text.charCodeAt(at - 1 - count) === 0x5c) count++;
  return count;
}
