export type RowKind = 'added' | 'removed' | 'place' | 'file' | 'plain';

/** A line of an effect, or a piece of a long one: small enough to be seen as a whole or not at all. */
export interface EffectRow {
  readonly kind: RowKind;
  readonly text: string;
  /** Of the line in an effect that is no diff, from 1. Absent: it is in a diff. */
  readonly line?: number;
  /** It goes on with the line before it. */
  readonly isContinued: boolean;
  /** Of the file that a diff is about: as it was for a removed line, as it would be for others. Absent: it is not known. */
  readonly fileLine?: number;
  /** Where a changed line differs from the one it replaces, or that replaces it. Absent: it is not known, or all of it. */
  readonly differs?: readonly [from: number, to: number];
}

const longestRow = 160;

/**
 * The rows of an effect, told apart as a diff tells them. In what is no diff a leading minus means nothing. The marks of
 * secrets stay whole.
 */
export function readRows(effect: string, marks: readonly string[] = []): readonly EffectRow[] {
  const lines = effect.replace(/\n$/, '').split('\n');
  const isDiff = lines.some((text) => text.startsWith('@@ '));
  const known = isDiff ? readDiff(lines) : [];
  return lines.flatMap((text, at) => {
    const { kind, fileLine, differs } = known[at] ?? { kind: 'plain' };
    return cut(text, marks).map((piece, index, pieces) => ({
      ...{ kind, text: piece, isContinued: index > 0 },
      ...(isDiff ? {} : { line: at + 1 }),
      ...(fileLine === undefined ? {} : { fileLine }),
      // What is cut is shown whole: where it differs could be in any of its pieces.
      ...(differs === undefined || pieces.length > 1 ? {} : { differs }),
    }));
  });
}

interface DiffLine {
  readonly kind: RowKind;
  readonly fileLine?: number;
  differs?: readonly [number, number];
}

/** What each line of a diff is, where in the file, and what of it changed. */
function readDiff(lines: readonly string[]): readonly DiffLine[] {
  let inHunk = false;
  let [before, after] = [0, 0];
  const known = lines.map((text): DiffLine => {
    const [, from, to] = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(text) ?? [];
    if (from !== undefined) [before, after] = [Number(from), Number(to)];
    // No line of a hunk begins like this.
    inHunk = text.startsWith('@@ ') || (inHunk && !text.startsWith('diff --git '));
    const kind = kindOf(text, inHunk);
    if (kind === 'removed') return { kind, fileLine: before++ };
    if (kind === 'added') return { kind, fileLine: after++ };
    if (kind !== 'plain' || !inHunk || text.startsWith('\\')) return { kind };
    before++;
    return { kind, fileLine: after++ };
  });
  markDifferences(lines, known);
  return known;
}

/** Lines that replace each other are compared: the same number of them, one by one. */
function markDifferences(lines: readonly string[], known: readonly DiffLine[]): void {
  for (let at = 0; at < lines.length;) {
    const removed = countKind(known, at, 'removed');
    const added = countKind(known, at + removed, 'added');
    for (let pair = 0; removed === added && pair < removed; pair++) {
      const [old, fresh] = [lines[at + pair] ?? '', lines[at + removed + pair] ?? ''];
      const ends = findDifference(old.slice(1), fresh.slice(1));
      const [oldLine, freshLine] = [known[at + pair], known[at + removed + pair]];
      if (ends === undefined || oldLine === undefined || freshLine === undefined) continue;
      oldLine.differs = [ends.from + 1, old.length - ends.tail];
      freshLine.differs = [ends.from + 1, fresh.length - ends.tail];
    }
    at += Math.max(1, removed + added);
  }
}

function countKind(known: readonly DiffLine[], from: number, kind: RowKind): number {
  let count = 0;
  while (known[from + count]?.kind === kind) count++;
  return count;
}

/** Undefined: they have hardly anything in common, so that all of them differs. Never between the halves of a character. */
function findDifference(a: string, b: string): { readonly from: number; readonly tail: number } | undefined {
  const shorter = Math.min(a.length, b.length);
  let from = 0;
  while (from < shorter && a[from] === b[from]) from++;
  if (/[\ud800-\udbff]/.test(a.charAt(from - 1))) from--;
  let tail = 0;
  while (tail < shorter - from && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  if (/[\udc00-\udfff]/.test(a.charAt(a.length - tail))) tail--;
  return from + tail < shorter / 4 ? undefined : { from, tail: Math.max(0, tail) };
}

/** What git says about a file before its hunks. */
const fileHead =
  /^(?:---|\+\+\+|diff --git|index|(?:new|deleted) file mode|(?:old|new) mode|(?:dis)?similarity index|(?:rename|copy) (?:from|to)) /;

/** Inside a hunk, `---` is a removed line that begins with two dashes. */
function kindOf(text: string, inHunk: boolean): RowKind {
  if (text.startsWith('@@ ')) return 'place';
  if (!inHunk && fileHead.test(text)) return 'file';
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
