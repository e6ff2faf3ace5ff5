/**
 * One well-known shape of a credential, as data. Tests run the examples, and hold every pattern to a form in which no
 * text can be matched in two ways: an ordinary engine then never looks twice at what it has passed.
 */
export interface CredentialPattern {
  readonly id: string;
  readonly description: string;
  /** A match begins with one of these. One search for all of them spares ordinary text every pattern. */
  readonly keywords: readonly string[];
  /** Keyword and pattern in capitals or not. Absent: to the letter. */
  readonly anyCase?: true;
  /** What must stand before the keyword, of fixed length; it goes too. Absent: anything may. */
  readonly before?: string;
  /** What follows the keyword. Where only a part of the match is secret, a group named `secret` stands at its end. */
  readonly pattern: string;
  /** The keyword counts only where a word begins, because it also stands inside ordinary words. */
  readonly apart?: true;
  /** The shape alone says little, so the secret must also look like one. */
  readonly guess?: true;
  /** Templates of texts, for tests; `<hex:32>` is a random part, `<=words>` these words. Both must be gone afterwards. */
  readonly match: readonly string[];
  readonly miss: readonly string[];
}

export const alnum = '[A-Za-z0-9]';
export const word = '[A-Za-z0-9_]';
export const url64 = '[A-Za-z0-9_-]';
export const base64 = '[A-Za-z0-9+/=]';
export const hex = '[0-9a-f]';
export const endOfWord = '(?![A-Za-z0-9])';

/** From a name to its value: `_key = "`, `": "`, ` token: `. The value follows. */
export const given = '[A-Za-z0-9_. -]{0,32}[=:>"\'`\\\\(\\t][=:>"\'`\\\\( \\t]{0,8}';

/** The same, but with a sign of assignment and no further words. */
export const assigned = '[A-Za-z0-9_.-]{0,32}[ \\t"\'`\\\\)\\]]{0,6}[=:][=:> \\t"\'`\\\\]{0,8}';
