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
    // No line of a hunk begins like this.
    inHunk = text.startsWith('@@ ') || (inHunk && !text.startsWith('diff --git '));
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

/** The content of a row: text, the mark of something masked, or what was revealed in its place. */
export interface RowPart {
  readonly text: string;
  /** The mark that stands here, or did. Absent: it is text of the effect. */
  readonly mark?: string;
  readonly isRevealed: boolean;
  /** The revealed value goes on in the next part. Absent: it does not. */
  readonly goesOn?: true;
}

/**
 * A row with what is revealed in it. That may be long: then it becomes several rows, because each must be small enough to
 * be seen as a whole.
 */
export function openRow(
  text: string,
  marks: readonly string[],
  valueOf: (mark: string) => string | undefined,
): readonly (readonly RowPart[])[] {
  const rows: RowPart[][] = [[]];
  const add = (part: RowPart): void => {
    const row = rows.at(-1) ?? [];
    const length = row.reduce((sum, each) => sum + each.text.length, 0);
    if (row.length > 0 && length + part.text.length > 2 * longestRow) rows.push([part]);
    else row.push(part);
  };
  for (const piece of splitMarks(text, marks)) {
    const mark = marks.includes(piece) ? { mark: piece } : {};
    const value = mark.mark === undefined ? undefined : valueOf(mark.mark);
    if (value === undefined) add({ text: piece, ...mark, isRevealed: false });
    const pieces = (value?.split('\n') ?? []).flatMap((line, at) =>
      cut(line, []).map((part, index) => ({ part, isNewLine: at > 0 && index === 0 })),
    );
    for (const [at, { part, isNewLine }] of pieces.entries()) {
      if (isNewLine) rows.push([]);
      add({ text: part, ...mark, isRevealed: true, ...(at < pieces.length - 1 ? { goesOn: true } : {}) });
    }
  }
  return rows;
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
    // Only around the end: to search all of a long text for each of its pieces takes seconds.
    const first = Math.max(from, end - mark.length + 1);
    const at = text.slice(first, end - 1 + mark.length).indexOf(mark);
    const start = first + at;
    if (at !== -1) return start > from ? start : start + mark.length;
  }
  return end;
}

export function countRows(effect: string, marks: readonly string[]): number {
  return effect.trim() === '' ? 0 : readRows(effect, marks).length;
}
