const leastBits = { withDigits: 2.5, withoutDigits: 3.5 };
const longestSample = 64;
const wordBetween = /^[A-Za-z][a-z]*(?:[-_.][A-Za-z][a-z]*)+$/;
const reference = /^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$/;
const callOfFunction = /^[A-Za-z_$][\w$.]*\(/;

/**
 * Whether a value is random enough to be a secret. For places where a name alone says little: words, names of types and
 * calls of functions stand there as often as secrets do.
 */
export function looksSecret(text: string, start: number, end: number): boolean {
  // The beginning tells enough.
  const value = text.slice(start, Math.min(end, start + longestSample));
  if (wordBetween.test(value) || reference.test(value) || callOfFunction.test(value + text.charAt(end))) return false;
  return bitsPerCharacter(value) >= (/\d/.test(value) ? leastBits.withDigits : leastBits.withoutDigits);
}

/** Shannon's entropy over the characters of the value; those outside of ASCII count as one. */
function bitsPerCharacter(value: string): number {
  const counts = new Uint16Array(128);
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
