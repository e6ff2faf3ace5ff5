const longestQuote = 256;

/**
 * A text of the caller's as a message may quote it: whole, or nothing but its length. Never a part of it, because half a
 * secret is one that nobody recognises any more: messages are freed from secrets before anything cuts them.
 */
export function wholeText(text: string, most = longestQuote): string {
  return text.length <= most ? text : `[${text.length} characters]`;
}
