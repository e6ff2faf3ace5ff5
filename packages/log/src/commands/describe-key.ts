/** With whose key it was judged. A key that came with what it proves is no proof, and that is said. */
export function describeKey(
  key: string,
  { isKnownKey, from }: { readonly isKnownKey: boolean; readonly from: string },
): string {
  const hint = isKnownKey ? '' : ` (from the ${from} itself: pass --key to compare it with one you know)`;
  return `Key: ${makeVisible(key)}${hint}`;
}

/** What a file says must not write to the terminal. */
export function makeVisible(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
}
