import { makeVisibleLine, wholeText } from '@sallyport/contract';

/** A longer one is named by its length. */
const longestShown = 1000;

/** A path or name for a message: on one line, without terminal controls, and whole unless it is too long to be read. */
export function printable(text: string): string {
  const shown = wholeText(text, longestShown);
  return /^[!-~]+$/.test(shown) ? shown : makeVisibleLine(JSON.stringify(shown));
}
