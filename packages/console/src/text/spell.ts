// Control characters, marks that change the order of reading, and characters that show nothing. The daemon spells them
// out already; the page does not rely on it.
const treacherous = /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--[\n\t]--\ufe0f]/v;
const everyTreacherous = new RegExp(treacherous.source, 'gv');

export interface Piece {
  readonly text: string;
  /** It stands for a character that could not be seen. */
  readonly isSpelled: boolean;
}

/** Cuts text from outside into pieces that can be shown as they are. Line ends and tabs stay. */
export function spellHidden(text: string): readonly Piece[] {
  if (!treacherous.test(text)) return [{ text, isSpelled: false }];
  const pieces: Piece[] = [];
  let from = 0;
  for (const { 0: character, index } of text.matchAll(everyTreacherous)) {
    if (index > from) pieces.push({ text: text.slice(from, index), isSpelled: false });
    const code = character.codePointAt(0) ?? 0;
    pieces.push({ text: `U+${code.toString(16).toUpperCase().padStart(4, '0')}`, isSpelled: true });
    from = index + character.length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from), isSpelled: false });
  return pieces;
}
