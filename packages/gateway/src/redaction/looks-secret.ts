const leastBits = { withDigits: 2.5, withoutDigits: 3.5 };
const longestSample = 64;

/** What else stands after such names: words-with-dashes, NamesOfTypes, references.to.members and calls( of functions. */
const notSecret = [
  /^[A-Za-z][a-z]*(?:[-_.][A-Za-z][a-z]*)+$/,
  /^[A-Z]*[a-z]{2,}(?:[A-Z]+[a-z]{2,})+\W*$/,
  /^[A-Za-z_$]+(?:\??\.[A-Za-z_$]+)+$/,
];
const callOfFunction = /^[A-Za-z_$][\w$.]*\(/;

/**
 * Whether a value is random enough to be a secret. For places where a name alone says little: words, names of types and
 * calls of functions stand there as often as secrets do.
 */
export function looksSecret(text: string, start: number, end: number): boolean {
  // The beginning tells enough.
  const value = text.slice(start, Math.min(end, start + longestSample));
  if (callOfFunction.test(text.slice(start, Math.min(end + 1, start + longestSample)))) return false;
  if (notSecret.some((form) => form.test(value))) return false;
  return bitsPerCharacter(value) >= (/\d/.test(value) ? leastBits.withDigits : leastBits.withoutDigits);
}

const counts = new Uint8Array(128);

/** Shannon's entropy over the characters of the value; those outside of ASCII count as one. */
function bitsPerCharacter(value: string): number {
  counts.fill(0);
  for (let at = 0; at < value.length; at++) {
    const slot = Math.min(value.charCodeAt(at), 127);
    counts[slot] = (counts[slot] ?? 0) + 1;
  }
  let bits = 0;
  for (const count of counts) {
    if (count > 0) bits -= (count / value.length) * Math.log2(count / value.length);
  }
  return bits;
}
