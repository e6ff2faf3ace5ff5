// Also what only some terminals draw in two columns: a row that is counted too long is cut early, and still seen.
const wide =
  /[\p{Emoji_Presentation}\u1100-\u115f\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1d300}-\u{1d376}\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const narrow = /^[\x20-\x7e]*$/;
/** Marks that stand on their letter. Those beside it have a column of their own. */
const combining = /(?!\ufe0f)[\p{Mn}\p{Me}]/u;

/** How many columns of a terminal the text takes. */
export function textWidth(text: string): number {
  if (narrow.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

export function padText(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - textWidth(text)));
}

export function truncateText(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  return `${takeColumns(text, Math.max(0, width - 1)).trimEnd()}…`;
}

/** Cuts every line into pieces that fit, wherever that is: for text whose spaces matter. */
export function foldLines(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => {
    const pieces: string[] = [];
    for (let rest = line.replaceAll('\t', '    '); ;) {
      const piece = textWidth(rest) <= width ? rest : takeColumns(rest, width);
      pieces.push(piece);
      rest = rest.slice(piece.length);
      if (rest === '') return pieces;
    }
  });
}

/** Breaks prose between words. A word that does not fit stands on a line of its own. */
export function wrapWords(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    if (line !== '' && textWidth(line) + 1 + textWidth(word) > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  lines.push(line);
  return lines;
}

/** With line ends in the words that are longer than a line. */
export function breakWords(text: string, width: number): string {
  return text.replaceAll(/\S+/g, (word) => foldLines(word, width).join('\n'));
}

/** At least one character, so that cutting up a text comes to an end at any width. */
function takeColumns(text: string, width: number): string {
  let taken = '';
  let used = 0;
  for (const character of text) {
    used += characterWidth(character);
    if (used > width && taken !== '') break;
    taken += character;
  }
  return taken;
}

function characterWidth(character: string): number {
  if (combining.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}
