// The one table of what a reader would not see. It also runs in browsers, so it imports nothing.

/** Nothing is drawn for these, or something that looks like a space, although no property of Unicode says so. */
const blank = String.raw`\u2800\ufffc\u{13441}\u{13442}\u{16fe4}\u{1d159}`;
// Controls and escape sequences, marks that turn the reading direction, zero-width, tag and filler characters.
const hiding = String.raw`[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}${blank}]`;
// A pile of marks covers the lines around it. No language needs more than four on one letter.
const piled = String.raw`\p{M}(?<=\p{M}{5})`;
// Only between pictures, where it makes them one picture.
const inEmoji = String.raw`(?<=\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?)\u200d(?=\p{Extended_Pictographic})|(?<=[\p{Emoji}--[#*0-9]])\ufe0f`;
// Spaces of other widths, and characters that no font has to draw, are spelled out as well.
const unseen = String.raw`(?!${inEmoji})(?:[[${hiding}\p{Zs}\p{Co}\p{Cn}]--[ \n\t]]|${piled})`;

const everyUnseen = new RegExp(unseen, 'gv');
/** Eight of the same and more are counted: nothing is pushed out of sight by them. */
const unseenRuns = new RegExp(String.raw`(${unseen})\1{7,}|${unseen}`, 'gv');
/** Joiners between letters are how some scripts are written; line ends and tabs are part of a text. */
const joiners = String.raw`(?<=[[\p{L}\p{M}]--\p{Script_Extensions=Latin}])[\u200c\u200d](?=[\p{L}--\p{Script_Extensions=Latin}])`;
const hides = String.raw`(?!${inEmoji}|${joiners})(?:[${hiding}--[\n\r\t]]|${piled})`;
const anyHiding = new RegExp(hides, 'v');
const everyHiding = new RegExp(hides, 'gv');
const plain = /^[\n\t\x20-\x7e]*$/;
const lineEnds = /[\n\t]/g;

const shortNames: Readonly<Record<string, string>> = { '\r': '\\r', '\n': '\\n', '\t': '\\t', '\u001b': '\\e' };

export interface VisiblePiece {
  readonly text: string;
  /** It stands for characters that could not be seen. */
  readonly isSpelled: boolean;
}

/** Cuts a text into pieces that can be shown as they are. Line ends and tabs stay. */
export function spellHidden(text: string): readonly VisiblePiece[] {
  if (plain.test(text)) return [{ text, isSpelled: false }];
  const pieces: VisiblePiece[] = [];
  let from = 0;
  for (const { 0: run, index } of text.matchAll(unseenRuns)) {
    if (index > from) pieces.push({ text: text.slice(from, index), isSpelled: false });
    pieces.push({ text: spellRun(run), isSpelled: true });
    from = index + run.length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from), isSpelled: false });
  return pieces;
}

/**
 * Text from agents, tools and files as a person may safely be shown it: nothing in it moves the cursor, sends escape
 * sequences, turns the reading direction or hides. `mark` sets the replacements off from the text around them.
 */
export function makeVisible(text: string, mark: (escape: string) => string = (escape) => escape): string {
  return plain.test(text) ? text : text.replaceAll(unseenRuns, (run) => mark(spellRun(run)));
}

/** The same for a place that has one line only. */
export function makeVisibleLine(text: string): string {
  return makeVisible(text).replaceAll(lineEnds, spellCharacter);
}

/** Replaces each character that a reader would not see, one by one. */
export function replaceUnseen(text: string, replace: (character: string) => string): string {
  return plain.test(text) ? text : text.replaceAll(everyUnseen, replace);
}

/** Whether something in it hides from a reader. Unusual spaces alone do not count. */
export function hasHiddenText(text: string): boolean {
  return !plain.test(text) && anyHiding.test(text);
}

/** Without what hides from a reader: for text that strangers wrote for people and an agent reads. */
export function dropHiddenText(text: string): string {
  return plain.test(text) ? text : text.replaceAll(everyHiding, '');
}

export function hasHiddenTextOrLines(text: string): boolean {
  return hasHiddenText(text) || /[\n\r\t]/.test(text);
}

function spellRun(run: string): string {
  const [character = ''] = run;
  const count = run.length / character.length;
  return count === 1 ? spellCharacter(character) : `[${count} × ${spellCharacter(character)}]`;
}

function spellCharacter(character: string): string {
  const short = shortNames[character];
  if (short !== undefined) return short;
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
}
