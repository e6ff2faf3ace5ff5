import { canonicalJson } from '@sallyport/contract';
import type { Json } from '@sallyport/contract';

declare const taken: unique symbol;

/**
 * Text without secrets. Only the redactor makes it, from the whole text: of a secret that was cut or quoted before,
 * nobody recognises what is left. So this alone may be cut, quoted, recorded or sent out.
 */
export type Redacted = string & { readonly [taken]: 'secrets' };

/** More characters than a secret has, however it is escaped. */
const longestSecret = 512 * 1024;

export type RedactText = (text: string) => Redacted;

export type RedactedJson =
  | Redacted
  | number
  | boolean
  | null
  | readonly RedactedJson[]
  | { readonly [key: string]: RedactedJson };

/** The first characters. */
export function cutText(text: Redacted, most: number): Redacted {
  return text.slice(0, most).toWellFormed() as Redacted;
}

/** The last characters: programs say at the end why they failed. */
export function cutToEnd(text: Redacted, most: number): Redacted {
  return text.slice(-most).toWellFormed() as Redacted;
}

/** The same of a text that is longer than anybody redacts whole: it is cut twice, the first time far from what is shown. */
export function redactEnd(text: string, most: number, redact: RedactText): Redacted {
  return cutToEnd(redact(text.slice(-longestSecret - most)), most);
}

/** Its lines: a secret that spans several is gone from all of them. */
export function splitLines(text: Redacted): readonly Redacted[] {
  return text.split('\n') as readonly string[] as readonly Redacted[];
}

/** With its hidden characters escaped, in quotation marks. */
export function quoteText(text: Redacted): Redacted {
  return JSON.stringify(text) as Redacted;
}

/** A sentence of ours about texts of others. */
export function say(words: TemplateStringsArray, ...values: readonly (Redacted | number)[]): Redacted {
  return String.raw({ raw: words }, ...values) as Redacted;
}

/** What the gate or its operator named: ids, codes, rules, agents. Never for what a caller, a tool or a file wrote. */
export function ownText(text: string): Redacted {
  return text as Redacted;
}

/** The same for the JSON of a record that holds nothing else. */
export function ownJson(value: Json): Redacted {
  return canonicalJson(value) as Redacted;
}

export function encodeRedacted(value: RedactedJson | { readonly [key: string]: RedactedJson | undefined }): Redacted {
  return JSON.stringify(value) as Redacted;
}
