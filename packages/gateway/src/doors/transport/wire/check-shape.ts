import { RpcError } from '../rpc-error.ts';

// Some bytes on the wire become a hundred in memory: an empty element, a field of two bytes. A large message that is
// mostly made of those would hold up every other caller, or use up the memory, which ends the process: no `catch` helps.
// So large messages are looked at before they are decoded. Long strings are skipped, and cost nothing.

/** A text this short cannot hurt, whatever it holds. */
const harmlessBytes = 64 * 1024;
/** Far more than any message of ours has; what makes them long is text and content. */
const maxParts = 100_000;

const [quote, backslash, comma, openBracket, openBrace] = Buffer.from('"\\,[{');

/** Refuses a large JSON text of too many members and elements. */
export function checkJsonShape(text: Buffer): void {
  if (text.length <= harmlessBytes) return;
  let parts = 0;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at];
    if (byte === quote) at = endOfString(text, at);
    else if (byte === comma || byte === openBracket || byte === openBrace) checkParts(++parts);
  }
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

/** Refuses more parts than any message has. */
export function checkParts(parts: number): void {
  if (parts > maxParts) throw new RpcError('invalid_argument', `The request has more than ${maxParts} parts.`);
}
