/** A part of a text: from `start` up to, not including, `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
  /** Under which the secret there is known. Absent: it only looks like one, or has no name. */
  readonly name?: string;
}

export const redacted = '[redacted]';

/** The replacement of a span that is taken out. */
export type WriteMark = (value: string, span: Span) => string;

/** The first `length` characters of the text, with each span in them replaced by one mark; spans may overlap. */
export function blankSpans(
  text: string,
  spans: readonly Span[],
  length = text.length,
  writeMark: WriteMark = () => redacted,
): string {
  if (spans.length === 0) return text.slice(0, length);
  let shown = '';
  let at = 0;
  for (const span of joinSpans(text, spans)) {
    const { start, end } = span;
    if (start >= length) break;
    shown += text.slice(at, start) + writeMark(text.slice(start, end), span);
    at = end;
  }
  return shown + text.slice(at, Math.max(at, length));
}

/** In their order, whole in terms of escapes. Overlapping spans share a mark, so they become one. */
function joinSpans(text: string, spans: readonly Span[]): Span[] {
  const joined: Span[] = [];
  for (const span of spans.map((each) => keepEscapesWhole(text, each)).sort((a, b) => a.start - b.start)) {
    const last = joined.at(-1);
    if (last === undefined || span.start >= last.end) joined.push(span);
    else joined[joined.length - 1] = { ...span, ...last, end: Math.max(last.end, span.end) };
  }
  return joined;
}

/** In a text of JSON a mark must not leave half of an escape on either side. */
function keepEscapesWhole(text: string, { start, end, ...more }: Span): Span {
  const from = countBackslashesBefore(text, start) % 2 === 1 ? start - 1 : start;
  const to = end < text.length && countBackslashesBefore(text, end) % 2 === 1 ? end + 1 : end;
  return { start: from, end: to, ...more };
}

function countBackslashesBefore(text: string, at: number): number {
  let count = 0;
  while (text.charCodeAt(at - 1 - count) === 0x5c) count++;
  return count;
}
