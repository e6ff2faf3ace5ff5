// Control characters, marks that change the order of reading, and characters that show nothing at all. The variation
// selector of emoji is let through: it only chooses between two pictures.
export const treacherous = /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--[\n\t]--\ufe0f]/gv;
const lineEnds = /[\n\t]/g;

const shortNames: Readonly<Record<string, string>> = { '\r': '\\r', '\n': '\\n', '\t': '\\t', '\u001b': '\\e' };

/**
 * Text from agents, tools and files as a person may safely be shown it: nothing in it moves the cursor, sends escape
 * sequences, turns the reading direction or hides. `mark` sets the replacements off from the text around them.
 */
export function makeVisible(text: string, mark: (escape: string) => string = (escape) => escape): string {
  return text.replaceAll(treacherous, (character) => mark(spellCharacter(character)));
}

/** The same for a place that has one line only. */
export function makeVisibleLine(text: string): string {
  return makeVisible(text).replaceAll(lineEnds, spellCharacter);
}

export function spellUnit(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}

function spellCharacter(character: string): string {
  const short = shortNames[character];
  if (short !== undefined) return short;
  return character.length === 1 ? spellUnit(character.charCodeAt(0)) : `\\u{${character.codePointAt(0)?.toString(16)}}`;
}
