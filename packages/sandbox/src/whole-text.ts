/**
 * A text of a program's as a message may quote it: whole, or nothing but its length. Never a part of it: the messages are
 * searched for secrets later, and half a secret is not recognised.
 */
export function wholeText(text: string, most: number): string {
  return text.length <= most ? text : `[${text.length} characters]`;
}
