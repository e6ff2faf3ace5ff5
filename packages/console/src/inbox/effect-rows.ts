export type RowKind = 'added' | 'removed' | 'place' | 'file' | 'plain';

/** A line of an effect, or a piece of a long one: small enough to be seen as a whole or not at all. */
export interface EffectRow {
  readonly kind: RowKind;
  readonly text: string;
  /** Of the line, from 1. */
  readonly line: number;
  /** It goes on with the line before it. */
  readonly isContinued: boolean;
}

const longestRow = 160;

/**
 * The rows of an effect, told apart as a diff tells them. In what is no diff a leading minus means nothing. The marks of
 * secrets stay whole.
 */
export function readRows(effect: string, marks: readonly string[] = []): readonly EffectRow[] {
  const lines = effect.replace(/\n$/, '').split('\n');
  const isDiff = lines.some((text) => text.startsWith('@@ '));
  let inHunk = false;
  return lines.flatMap((text, at) => {
    inHunk ||= text.startsWith('@@ ');
    const kind = isDiff ? kindOf(text, inHunk) : 'plain';
    return cut(text, marks).map((piece, index) => ({ kind, text: piece, line: at + 1, isContinued: index > 0 }));
  });
}

/** Inside a hunk, `---` is a removed line that begins with two dashes. */
function kindOf(text: string, inHunk: boolean): RowKind {
  if (text.startsWith('@@ ')) return 'place';
  if (!inHunk && /^(?:---|\+\+\+) /.test(text)) return 'file';
  if (text.startsWith('+')) return 'added';
  return text.startsWith('-') ? 'removed' : 'plain';
}

/** A row with the marks in it told apart from the text around them. */
export function splitMarks(text: string, marks: readonly string[]): readonly string[] {
  if (marks.length === 0) return [text];
  const pattern = new RegExp(`(${marks.map((mark) => mark.replaceAll(/[^\w ]/g, String.raw`\$&`)).join('|')})`);
  return text.split(pattern).filter((piece) => piece !== '');
}

function cut(text: string, marks: readonly string[]): readonly string[] {
  if (text.length <= longestRow) return [text];
  const pieces: string[] = [];
  for (let from = 0; from < text.length;) {
    const end = from + longestRow;
    // Never between the halves of one character, nor inside a mark.
    const isSplit = /[\ud800-\udbff]/.test(text.charAt(end - 1));
    const to = outsideMarks(text, isSplit ? end - 1 : end, from, marks);
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}

/** The end of a piece, moved to where no mark is cut: before it, or behind it when the piece would be empty. */
function outsideMarks(text: string, end: number, from: number, marks: readonly string[]): number {
  for (const mark of marks) {
    const start = text.lastIndexOf(mark, end - 1);
    if (start >= from && start + mark.length > end) return start > from ? start : start + mark.length;
  }
  return end;
}

export function countRows(effect: string, marks: readonly string[]): number {
  return effect.trim() === '' ? 0 : readRows(effect, marks).length;
}
