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

/** The rows of an effect, told apart as a diff tells them. In what is no diff a leading minus means nothing. */
export function readRows(effect: string): readonly EffectRow[] {
  const lines = effect.replace(/\n$/, '').split('\n');
  const isDiff = lines.some((text) => text.startsWith('@@ '));
  let inHunk = false;
  return lines.flatMap((text, at) => {
    inHunk ||= text.startsWith('@@ ');
    const kind = isDiff ? kindOf(text, inHunk) : 'plain';
    return cut(text).map((piece, index) => ({ kind, text: piece, line: at + 1, isContinued: index > 0 }));
  });
}

/** Inside a hunk, `---` is a removed line that begins with two dashes. */
function kindOf(text: string, inHunk: boolean): RowKind {
  if (text.startsWith('@@ ')) return 'place';
  if (!inHunk && /^(?:---|\+\+\+) /.test(text)) return 'file';
  if (text.startsWith('+')) return 'added';
  return text.startsWith('-') ? 'removed' : 'plain';
}

function cut(text: string): readonly string[] {
  if (text.length <= longestRow) return [text];
  const pieces: string[] = [];
  for (let from = 0; from < text.length;) {
    // Never between the halves of one character.
    const end = from + longestRow;
    const isSplit = /[\ud800-\udbff]/.test(text.charAt(end - 1));
    const to = isSplit ? end - 1 : end;
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}
