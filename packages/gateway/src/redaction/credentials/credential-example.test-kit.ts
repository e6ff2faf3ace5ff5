import { randomInt } from 'node:crypto';

const capitals = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const smalls = 'abcdefghijklmnopqrstuvwxyz';
const digits = '0123456789';

const alphabets: Readonly<Record<string, string>> = {
  alnum: capitals + smalls + digits,
  url64: `${capitals}${smalls}${digits}-_`,
  base64: `${capitals}${smalls}${digits}+/`,
  base32: `${capitals}234567`,
  upper: capitals + digits,
  lower: smalls + digits,
  hex: `${digits}abcdef`,
  digit: digits,
};

export interface Example {
  readonly text: string;
  /** The parts that must not be seen. */
  readonly secrets: readonly string[];
}

/** A whole number from 0 up to, not including, `end`. */
type PickNumber = (end: number) => number;

/** Fills in a template. Credentials are made while the test runs: none stands in a file, where scanners would see it. */
export function fillIn(template: string, pickNumber: PickNumber = randomInt): Example {
  const secrets: string[] = [];
  const keep = (secret: string): string => {
    // A few characters may well stand elsewhere in the text.
    if (secret.length >= 4) secrets.push(secret);
    return secret;
  };
  const text = template.replace(
    /<(?:=([^>]+)|([a-z0-9-]+):(\w*))>/g,
    (_, words: string, kind: string, size: string) => {
      if (words !== undefined) return keep(words);
      if (kind.startsWith('pem')) return writePem(kind, size, keep, pickNumber);
      return keep(randomText(alphabets[kind] ?? '', Number(size), pickNumber));
    },
  );
  return { text, secrets };
}

function randomText(alphabet: string, length: number, pickNumber: PickNumber = randomInt): string {
  // Begins with a letter and holds a digit, as a random text of this length nearly always does.
  const letters = alphabet.replace(/[^A-Za-z]/g, '') || alphabet;
  const digit = /\d/.exec(alphabet)?.[0] ?? '';
  const pick = (from: string): string => from[pickNumber(from.length)] ?? '';
  return Array.from({ length }, (_, at) =>
    at === 0 ? pick(letters) : at === 2 && digit ? digit : pick(alphabet),
  ).join('');
}

function writePem(kind: string, label: string, keep: (secret: string) => string, pickNumber: PickNumber): string {
  const body = Array.from({ length: 6 }, () => keep(randomText(alphabets['base64'] ?? '', 64, pickNumber)));
  const name = `${label === '' ? '' : `${label} `}PRIVATE KEY`;
  const pem = [`-----BEGIN ${name}-----`, ...body, `-----END ${name}-----`].join('\n');
  if (kind === 'pem-in-json') return JSON.stringify({ file: `${pem}\n`, next: 'seen' });
  return kind === 'pem-in-diff' ? pem.replace(/^/gm, '+') : pem;
}
