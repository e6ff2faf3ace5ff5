/** The key it was verified with. If the key came with the file, that is no proof, and the text says so. */
export function describeKey(
  key: string,
  { isKnownKey, from }: { readonly isKnownKey: boolean; readonly from: string },
): string {
  const hint = isKnownKey ? '' : ` (from the ${from} itself: pass --key to compare it with one you know)`;
  return `Key: ${makeVisible(key)}${hint}`;
}

/** Text from a file must not control the terminal. */
export function makeVisible(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
}
