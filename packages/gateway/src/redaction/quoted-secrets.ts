import type { Json } from '@sallyport/contract';
import type { Redacted, RedactText } from '../call/redacted.ts';
import type { Redactor } from './redact.ts';
import { redacted } from './span.ts';

type Quoting = Pick<Redactor, 'markSecrets' | 'redactText'>;

/** What stands together wherever a text is cut: at spaces, quotes, slashes, dots. */
const words = /[\p{L}\p{N}+_]{8,}/gu;
/** No stage quotes a part of what is longer. */
const longestInput = 1024 * 1024;

/**
 * Redacts texts of ours about a call, which may quote a part of a secret in its arguments: stages name one word of a
 * command or one of its lines, and only the whole shows that it belongs to a key.
 */
export function redactQuotes(input: string | undefined, redactor: Quoting): RedactText {
  let found: ReadonlySet<string> | undefined;
  return (text) => {
    // First what is whole: with a mark in it nobody would recognise it.
    const shown = redactor.redactText(text);
    if (shown.search(words) < 0) return shown;
    found ??= findWords(input ?? '', redactor);
    const isQuoted = (word: string): boolean => found?.has(word) === true;
    return shown.replaceAll(words, (word) => (isQuoted(word) ? redacted : word)) as Redacted;
  };
}

function findWords(input: string, redactor: Quoting): ReadonlySet<string> {
  const found = new Set<string>();
  if (input.length > longestInput) return found;
  const look = (value: Json): void => {
    if (typeof value === 'string') {
      redactor.markSecrets(value, (secret) => {
        for (const [word] of secret.matchAll(words)) found.add(word);
        return '';
      });
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, member] of Object.entries(value)) {
        look(key);
        look(member);
      }
    }
  };
  look(parse(input));
  return found;
}

function parse(input: string): Json {
  try {
    return JSON.parse(input) as Json;
  } catch {
    return input;
  }
}
