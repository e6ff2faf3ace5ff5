import { hash } from 'node:crypto';
import type { WriteSecretMark } from '../redaction/redact.ts';
import type { MaskedSecret } from '../call/approval.ts';

/** Finds secrets in a text and puts something else in their place. */
export interface SecretMarker {
  readonly markSecrets: (text: string, writeMark: WriteSecretMark) => string;
}

export interface MaskedTexts {
  /** As they were given, with a mark in the place of each secret. */
  readonly texts: readonly string[];
  readonly masked: readonly MaskedSecret[];
  /** What the marks stand for, in the same order. In no record, log or file. */
  readonly values: readonly string[];
}

const writtenMark = /\[(?:secret|rest) (\d{1,6}):/g;
/** A card has no more of one text. The rest is shown when somebody asks for it, and has to be. */
export const longestOnCard = 1024 * 1024;

/**
 * Texts as the person who decides sees them: everything is there but the secrets, and of those how long they are and,
 * where the gate knows it, which. The same value has the same mark wherever it stands. A mark stands nowhere else: what
 * a caller wrote to look like one keeps its number to itself.
 */
export function maskSecrets(texts: readonly string[], marker: SecretMarker, longest = longestOnCard): MaskedTexts {
  const taken = new Set(texts.flatMap((text) => [...text.matchAll(writtenMark)].map(([, number]) => Number(number))));
  const byValue = new Map<string, MaskedSecret>();
  let number = 0;
  const nextNumber = (): number => {
    do number++;
    while (taken.has(number));
    return number;
  };
  const writeMark: WriteSecretMark = (value, { name, isHeld }) => {
    const known = byValue.get(value);
    if (known !== undefined) return markOf(known);
    const secret = {
      number: nextNumber(),
      characters: [...value].length,
      ...(name === undefined ? {} : { name }),
      ...(isHeld ? { isHeld } : {}),
    };
    byValue.set(value, secret);
    return markOf(secret);
  };
  const shown = texts.map((text) => marker.markSecrets(text, writeMark));
  const fitting = shown.map((text) => {
    if (text.length <= longest) return text;
    const at = cutOutsideMarks(text, longest, [...byValue.values()]);
    const rest = text.slice(at);
    const mark = { number: nextNumber(), characters: rest.length, restSha256: hash('sha256', rest) };
    byValue.set(rest, mark);
    return `${text.slice(0, at)}\n${markOf(mark)}\n`;
  });
  return { texts: fitting, masked: [...byValue.values()], values: [...byValue.keys()] };
}

/** The text that replaces the secret. */
export function markOf({ number, name, characters, restSha256 }: MaskedSecret): string {
  if (restSha256 !== undefined) return `[rest ${number}: ${characters} characters, SHA-256 ${restSha256}]`;
  return `[secret ${number}: ${name === undefined ? '' : `${name}, `}${characters} characters]`;
}

/** Behind the last line that fits; in one long line, not within a mark or a character. */
function cutOutsideMarks(text: string, longest: number, masked: readonly MaskedSecret[]): number {
  const lineEnd = text.lastIndexOf('\n', longest - 1) + 1;
  if (lineEnd > 0) return lineEnd;
  const within = masked
    .map((secret) => ({ mark: markOf(secret), start: text.lastIndexOf(markOf(secret), longest - 1) }))
    .find(({ mark, start }) => start > 0 && start + mark.length > longest);
  const at = within?.start ?? longest;
  return /[\ud800-\udbff]/.test(text.charAt(at - 1)) ? at - 1 : at;
}
