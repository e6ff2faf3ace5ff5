import type { DrawnSecret } from './random-secrets.ts';

/** A way of writing a secret that the gate promises to see through. */
export interface Encoding {
  readonly name: string;
  readonly encode: (text: string) => string;
}

const escapesHtml: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export const encodings: readonly Encoding[] = [
  { name: 'as it is', encode: (text) => text },
  { name: 'JSON', encode: (text) => JSON.stringify(text).slice(1, -1) },
  { name: 'JSON in JSON', encode: (text) => JSON.stringify(JSON.stringify(text).slice(1, -1)).slice(1, -1) },
  { name: 'URL', encode: (text) => encodeURIComponent(text) },
  { name: 'form', encode: (text) => new URLSearchParams({ '': text }).toString().slice(1) },
  { name: 'HTML', encode: (text) => asHtml(text) },
  ...[0, 1, 2].flatMap((shift) =>
    (['base64', 'base64url'] as const).map((form) => ({
      name: `${form} after ${shift} bytes`,
      // Only what is made of the secret alone: its neighbours share bits with the characters at its ends.
      encode: (text: string) => {
        const bytes = Buffer.concat([Buffer.alloc(shift, ':'), Buffer.from(text)]);
        return bytes.toString(form).slice(Math.ceil((shift * 4) / 3), Math.floor((bytes.length * 4) / 3));
      },
    })),
  ),
  { name: 'hexadecimal', encode: (text) => Buffer.from(text).toString('hex') },
  { name: 'hexadecimal, capitals', encode: (text) => Buffer.from(text).toString('hex').toUpperCase() },
];

const asJson = (text: string): string => JSON.stringify(text).slice(1, -1);
const asHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => escapesHtml[sign] ?? sign);

/** Ways in which programs and people write a secret that is still to be seen through: escaped again, wrapped, coloured. */
export const disguises: readonly Encoding[] = [
  { name: 'JSON, three times', encode: (text) => asJson(asJson(asJson(text))) },
  { name: 'URL, twice', encode: (text) => encodeURIComponent(encodeURIComponent(text)) },
  { name: 'URL of JSON', encode: (text) => encodeURIComponent(asJson(text)) },
  { name: 'JSON of a URL of JSON', encode: (text) => asJson(encodeURIComponent(asJson(text))) },
  { name: 'HTML, twice', encode: (text) => asHtml(asHtml(text)) },
  { name: 'in lines', encode: (text) => text.replace(/.{40}/gsu, '$&\n') },
  { name: 'in lines of base64', encode: (text) => Buffer.from(text).toString('base64').replace(/.{76}/g, '$&\n') },
  { name: 'split by what nobody sees', encode: (text) => [...text].join('\u200b') },
  { name: 'split and escaped', encode: (text) => asJson([...text].join('\u2060')).replaceAll('\u2060', '\\u2060') },
  { name: 'UTF-16LE read as bytes', encode: (text) => Buffer.from(text, 'utf16le').toString('latin1') },
  { name: 'UTF-16BE read as bytes', encode: (text) => Buffer.from(text, 'utf16le').swap16().toString('latin1') },
  { name: 'UTF-16LE in base64', encode: (text) => Buffer.from(text, 'utf16le').toString('base64') },
  { name: 'with colours', encode: (text) => text.replace(/.{5}/gsu, '\x1b[1;31m$&\x1b[0m') },
];

/** How many characters of words are no coincidence any more; of what is shorter, more than three quarters. */
const tellingWords = 24;
const tellingRandom = 8;
/** Six characters of the secret. */
const tellingHexadecimal = 12;
const escape = /[%\\&;+]/;

const unseen = /\\u(?:200b|2060|0000)|[\0\u200b\u2060]/g;

/** What may be UTF-16 in base64: in it every other byte is zero. */
function base64Runs(text: string): string[] {
  return [...text.matchAll(/(?:[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]A|[A-Za-z0-9+/]{4})+/g)]
    .map(([run]) => run)
    .filter((run) => run.length >= 24 && /A[A-Za-z0-9+/]{2}A|AA/.test(run));
}

/** What must not be seen of a secret, sorted by length. */
export class ForbiddenPieces {
  readonly #byLength = new Map<number, Map<string, string>>();

  constructor({ value, randomParts }: DrawnSecret) {
    for (const { name, encode } of encodings) {
      const whole = encode(value);
      this.#add(name, whole, Math.min(tellingWords, Math.floor((whole.length * 3) / 4) + 1), () => true);
      // Eight characters of escapes stand for fewer of the secret.
      const isPlain = (piece: string): boolean => name === 'as it is' || !escape.test(piece);
      const length = name.startsWith('hexadecimal') ? tellingHexadecimal : tellingRandom;
      for (const part of randomParts) this.#add(name, encode(part), length, isPlain);
    }
  }

  #add(name: string, text: string, length: number, isTelling: (piece: string) => boolean): void {
    const pieces = this.#byLength.get(length) ?? new Map<string, string>();
    for (let at = 0; at + length <= text.length; at++) {
      const piece = text.slice(at, at + length);
      // Few different characters stand together by chance.
      if (isTelling(piece) && new Set(piece).size > 3) pieces.set(piece, name);
    }
    this.#byLength.set(length, pieces);
  }

  /** The first piece that occurs in the text, as it is or as it is read, with its surroundings. Undefined: no piece does. */
  find(text: string): ReturnType<ForbiddenPieces['findAsItIs']> {
    const wide = base64Runs(text).map((run) => Buffer.from(run, 'base64').toString('utf16le'));
    const read = text.replaceAll(unseen, '');
    for (const each of [text, ...(read === text ? [] : [read]), ...wide]) {
      const found = this.findAsItIs(each);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  findAsItIs(text: string): { readonly piece: string; readonly how: string; readonly around: string } | undefined {
    for (const [length, pieces] of this.#byLength) {
      if (pieces.size === 0) continue;
      for (let at = 0; at + length <= text.length; at++) {
        const piece = text.slice(at, at + length);
        const how = pieces.get(piece);
        if (how !== undefined) return { piece, how, around: text.slice(Math.max(0, at - 60), at + length + 40) };
      }
    }
    return undefined;
  }
}
