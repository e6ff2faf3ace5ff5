const leastBits = { withDigits: 2.5, withoutDigits: 3.5 };
const wordBetween = /^[A-Za-z][a-z]*(?:[-_.][A-Za-z][a-z]*)+$/;
const reference = /^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$/;
const callOfFunction = /^[A-Za-z_$][\w$.]*\(/;

/**
 * Whether a value is random enough to be a secret. For places where a name alone says little: words, names of types and
 * calls of functions stand there as often as secrets do.
 */
export function looksSecret(text: string, start: number, end: number): boolean {
  const value = text.slice(start, end);
  if (wordBetween.test(value) || reference.test(value) || callOfFunction.test(value + text.charAt(end))) return false;
  return bitsPerCharacter(value) >= (/\d/.test(value) ? leastBits.withDigits : leastBits.withoutDigits);
}

/** Shannon's entropy over the characters of the value. */
function bitsPerCharacter(value: string): number {
  const counts = new Map<string, number>();
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length);
  return bits;
}
