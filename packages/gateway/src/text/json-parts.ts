// Some bytes on the wire become a hundred in memory: an empty element, a field of two bytes. A large text that is mostly
// made of those would hold up every other caller, or use up the memory, which ends the process: no `catch` helps. So
// large texts are looked at before they are read. Long strings are skipped, and cost nothing.

/** A text this short cannot hurt, whatever it holds. */
export const harmlessBytes = 64 * 1024;
/** Far more than any message of ours has; what makes them long is text and content. */
export const maxParts = 100_000;

const [quote, backslash, comma, openBracket, openBrace] = Buffer.from('"\\,[{');

/** A large text has more members and elements than any message of ours. */
export class TooManyParts extends Error {}

/** Whether a large JSON text has too many members and elements. */
export function hasTooManyParts(text: Buffer): boolean {
  if (text.length <= harmlessBytes) return false;
  let parts = 0;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at];
    if (byte === quote) at = endOfString(text, at);
    else if ((byte === comma || byte === openBracket || byte === openBrace) && ++parts > maxParts) return true;
  }
  return false;
}

/** Where the string that opens at `start` closes; the end of the text when it does not. */
function endOfString(text: Buffer, start: number): number {
  let at = start;
  for (;;) {
    at = text.indexOf('"', at + 1);
    if (at < 0) return text.length;
    let run = at;
    while (text[run - 1] === backslash) run--;
    if ((at - run) % 2 === 0) return at;
  }
}
