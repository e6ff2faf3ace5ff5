import { RpcError } from './rpc-error.ts';

/** A text this short cannot hurt, whatever it holds. */
const harmlessBytes = 64 * 1024;
/** Far more than any message of ours has; its long parts are strings. */
const maxParts = 100_000;

const [quote, backslash, comma, openBracket, openBrace] = Buffer.from('"\\,[{');

/**
 * Refuses a long text that is mostly brackets and commas. Each of those bytes becomes an object or a slot of a hundred
 * bytes when parsed, and running out of memory ends the process: no `catch` helps. Strings are skipped at the speed of
 * memory, so a large file in base64 costs nothing.
 */
export function checkJsonShape(text: Buffer): void {
  if (text.length <= harmlessBytes) return;
  let parts = 0;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at];
    if (byte === quote) {
      at = endOfString(text, at);
    } else if (byte === comma || byte === openBracket || byte === openBrace) {
      parts++;
      if (parts > maxParts) {
        throw new RpcError('invalid_argument', `The request has more than ${maxParts} members and elements.`);
      }
    }
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
