/**
 * A text of a program for a message: the whole text, or only its length. Never a part of it, because messages are
 * searched for secrets later, and half a secret is not recognised.
 */
export function wholeText(text: string, most: number): string {
  return text.length <= most ? text : `[${text.length} characters]`;
}
