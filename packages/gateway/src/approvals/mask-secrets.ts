import type { MaskedSecret } from '../model/approval.ts';

/** Finds secrets in a text and puts something else in their place. */
export interface SecretMarker {
  readonly markSecrets: (text: string, writeMark: (value: string, name: string | undefined) => string) => string;
}

export interface MaskedTexts {
  /** As they were given, with a mark in the place of each secret. */
  readonly texts: readonly string[];
  readonly masked: readonly MaskedSecret[];
  /** What the marks stand for, in the same order. In no record, log or file. */
  readonly values: readonly string[];
}

const writtenMark = /\[secret (\d{1,6}):/g;

/**
 * Texts as the person who decides sees them: everything is there but the secrets, and of those how long they are and,
 * where the gate knows it, which. The same value has the same mark wherever it stands. A mark stands nowhere else: what
 * a caller wrote to look like one keeps its number to itself.
 */
export function maskSecrets(texts: readonly string[], marker: SecretMarker): MaskedTexts {
  const taken = new Set(texts.flatMap((text) => [...text.matchAll(writtenMark)].map(([, number]) => Number(number))));
  const byValue = new Map<string, MaskedSecret>();
  let number = 0;
  const writeMark = (value: string, name: string | undefined): string => {
    const known = byValue.get(value);
    if (known !== undefined) return markOf(known);
    do number++;
    while (taken.has(number));
    const secret = { number, characters: [...value].length, ...(name === undefined ? {} : { name }) };
    byValue.set(value, secret);
    return markOf(secret);
  };
  const shown = texts.map((text) => marker.markSecrets(text, writeMark));
  return { texts: shown, masked: [...byValue.values()], values: [...byValue.keys()] };
}

/** What stands in the text. */
export function markOf({ number, name, characters }: MaskedSecret): string {
  return `[secret ${number}: ${name === undefined ? '' : `${name}, `}${characters} characters]`;
}
