/** A UTF-8 character has at most four bytes, so this many more than wanted always hold one whole character. */
export const maxCutBytes = 6;

/**
 * The part of a slice of UTF-8 text that holds whole characters: an unfinished one at the start is left out, one at the
 * end too, unless nothing would remain. So reading on from the end of each part loses nothing and always comes further.
 * `bytes` may reach beyond `wanted` where the text goes on. Text that is not UTF-8 stays so.
 */
export function cutToCharacters(
  bytes: Uint8Array,
  slice: { readonly wanted: number; readonly startsFile: boolean; readonly endsFile: boolean },
): { readonly from: number; readonly to: number } {
  let from = 0;
  if (!slice.startsFile) while (from < 3 && isContinuation(bytes[from])) from++;
  if (slice.endsFile || bytes.length <= slice.wanted) return { from: Math.min(from, bytes.length), to: bytes.length };
  let to = Math.max(slice.wanted, from);
  const lowest = Math.max(from, to - 3);
  while (to > lowest && isContinuation(bytes[to])) to--;
  if (to > from) return { from, to };
  to = from + 1;
  while (to < bytes.length && isContinuation(bytes[to])) to++;
  return { from, to };
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
