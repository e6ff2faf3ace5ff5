import { looksSecret } from './looks-secret.ts';

/** One way in which a secret may be written. */
export interface SecretForm {
  readonly text: string;
  /** Cut out of the middle of a base64 text: the characters next to it carry bits of the secret too. */
  readonly inBase64: boolean;
}

/** What is shorter would blank ordinary text. */
export const shortestSecret = 6;
const shortestLine = 16;
const shortestFragment = 12;
const mostFragments = 16;

/**
 * How a secret usually looks where it was not meant to be: as it is, escaped for JSON, URLs or HTML, in base64 (also as
 * a part of something longer) and in hexadecimal. Against whoever hides it on purpose nothing of this helps.
 */
export function writeForms(secret: string): SecretForm[] {
  const forms = new Map<string, SecretForm>();
  for (const text of [secret, ...linesOf(secret), ...fragmentsOf(secret)]) {
    for (const plain of plainForms(text)) forms.set(plain, { text: plain, inBase64: false });
    for (const cut of base64Forms(text)) forms.set(cut, { text: cut, inBase64: true });
  }
  return [...forms.values()].filter(({ text }) => text.length >= shortestSecret);
}

/** Lines stand alone in diffs and indented blocks. Those with spaces are words that stand elsewhere too. */
function linesOf(secret: string): string[] {
  if (!secret.includes('\n')) return [];
  const lines = secret.split('\n').map((line) => line.trim());
  return lines.filter((line) => line.length >= shortestLine && !/\s|^-----/.test(line));
}

/** The plain parts between signs that are escaped in more ways than anyone can list: one for each shell and format. */
function fragmentsOf(secret: string): string[] {
  if (!/["'`\\<>&%$\s]|[^ -~]/.test(secret)) return [];
  const fragments = secret.split(/[^A-Za-z0-9_.-]+/).filter(({ length }) => length >= shortestFragment);
  return fragments.filter((fragment) => looksSecret(fragment, 0, fragment.length)).slice(0, mostFragments);
}

function plainForms(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const url = encodeURIComponent(text.toWellFormed());
  const form = url.replace(/[!'()*~]/g, escapeByte).replaceAll('%20', '+');
  const bytes = Buffer.from(text);
  return [
    text,
    json,
    json.replaceAll('/', '\\/'),
    json.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
    JSON.stringify(json).slice(1, -1),
    ...[url, form].flatMap((escaped) => [escaped, escaped.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase())]),
    text.replace(/[&<>"']/g, (character) => htmlEscapes[character] ?? character),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
  ];
}

const htmlEscapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeByte(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** Base64 turns three bytes into four characters, so a part of a longer text shows in one of three ways. */
function base64Forms(text: string): string[] {
  const bytes = Buffer.from(text);
  return [0, 1, 2].flatMap((offset) => {
    const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
    // Only characters made of the secret alone: neither of what stands before it nor of what follows.
    const [from, to] = [Math.ceil((offset * 8) / 6), Math.floor((padded.length * 8) / 6)];
    return [padded.toString('base64').slice(from, to), padded.toString('base64url').slice(from, to)];
  });
}
