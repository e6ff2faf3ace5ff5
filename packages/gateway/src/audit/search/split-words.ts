const marks = /\p{M}/gu;
const words = /[\p{L}\p{N}\p{Co}]+/gu;
const plainWords = /[a-z0-9]+/g;
const beyondAscii = /[^\0-\x7f]/;

/** Small letters without accents. */
export function foldText(text: string): string {
  const small = text.toLowerCase();
  return beyondAscii.test(small) ? small.normalize('NFD').replace(marks, '') : small;
}

/** The words of a text, folded: runs of letters and digits. */
export function splitWords(text: string): readonly string[] {
  const folded = foldText(text);
  return folded.match(beyondAscii.test(folded) ? words : plainWords) ?? [];
}
