// Control characters, marks that turn the reading direction, and tag characters, with which text hides from people
// that models read. Joiners stay: scripts and emoji need them.
const hidden = /[[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]--[\n\r\t]]/v;
const everyHidden = new RegExp(hidden.source, 'gv');
const lineEnds = /[\n\r\t]/;

/** Whether a person would not see all of it. */
export function hasHiddenText(text: string): boolean {
  return hidden.test(text);
}

export function hasHiddenTextOrLines(text: string): boolean {
  return hasHiddenText(text) || lineEnds.test(text);
}

/** The same text with everything visible that a person would not see. */
export function showHidden(text: string): string {
  return text.toWellFormed().replaceAll(everyHidden, (character) => {
    return `\\u{${character.codePointAt(0)?.toString(16)}}`;
  });
}
