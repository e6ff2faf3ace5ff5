import { posix } from 'node:path';
import { makeVisible, makeVisibleLine } from '@sallyport/contract';
import { exactPathPattern } from '../policy/judge/explain-denial.ts';
import { viewPlain } from './plain-view.ts';
import { findRandomParts, isVaried } from './random-parts.ts';
import type { Span } from './span.ts';

/** One way in which a secret may be written. */
export interface SecretForm {
  readonly text: string;
  /** Cut out of the middle of a base64 text: the characters next to it carry bits of the secret too. */
  readonly inBase64: boolean;
  /** Where it looks like nothing else. */
  readonly randomParts: readonly Span[];
  /** How much of a random part is a part of the secret and no coincidence. */
  readonly tellingLength: number;
}

/** What is shorter would blank ordinary text. */
export const shortestSecret = 6;
const shortestLine = 16;
/** In UTF-16 every other byte says nothing. */
const tellingLength = { ofText: 8, ofBase64: 8, ofWideBase64: 22, ofHexadecimal: 12, most: 24 };

/**
 * How a secret usually looks where it was not meant to be: as it is, escaped for JSON, URLs or HTML, in base64 (also as
 * a part of something longer, of its JSON, and of UTF-16) and in hexadecimal; and each of these with its escapes undone. Nothing
 * here helps against somebody who hides it on purpose.
 */
export function writeForms(secret: string): SecretForm[] {
  const forms = new Map<string, SecretForm>();
  const add = (form: SecretForm): void => {
    if (form.text.length >= shortestSecret && !forms.has(form.text)) forms.set(form.text, form);
  };
  const parts = secret.includes('\n') ? findRandomParts(secret) : [];
  for (const text of [secret, ...linesOf(secret)]) {
    // A line says too little about itself: what its secret is made of there, it is made of.
    const isLineOfRandom = text !== secret && isInParts(secret.indexOf(text), text.length, parts);
    // What is all words stands elsewhere too.
    if (text !== secret && !isLineOfRandom && findRandomParts(text).length === 0) continue;
    const written = plainForms(text).map((plain) => describePlain(plain, text, isLineOfRandom));
    written.forEach(add);
    for (const form of written) add(undoEscapes(form));
    for (const inner of new Set([text, JSON.stringify(text).slice(1, -1)])) {
      for (const cut of base64Forms(Buffer.from(inner))) add(describeEncoded(cut, tellingLength.ofBase64, true));
      const hexadecimal = Buffer.from(inner).toString('hex');
      for (const hex of [hexadecimal, hexadecimal.toUpperCase()])
        add(describeEncoded(hex, tellingLength.ofHexadecimal, false));
    }
    // As PowerShell takes an encoded command.
    for (const cut of base64Forms(Buffer.from(text, 'utf16le')))
      add(describeEncoded(cut, tellingLength.ofWideBase64, true));
  }
  return [...forms.values()];
}

/** Escapes say the same with more characters, so that it takes more of them to tell as much. */
function describePlain(text: string, secret: string, isAllRandom: boolean): SecretForm {
  const length = Math.ceil((tellingLength.ofText * text.length) / secret.length);
  const bounded = Math.min(Math.max(length, tellingLength.ofText), tellingLength.most);
  const randomParts = isAllRandom ? [{ start: 0, end: text.length }] : findRandomParts(text);
  return { text, inBase64: false, randomParts, tellingLength: bounded };
}

/** Its random parts are those of the form: without the ends of lines words run into each other. */
function undoEscapes(form: SecretForm): SecretForm {
  const view = viewPlain(form.text);
  if (view === undefined) return form;
  const { length } = view.text;
  const placeOf = (place: number): number => {
    let [low, high] = [0, length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (view.locate(middle, middle + 1).start < place) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const randomParts = form.randomParts.map(({ start, end }) => ({ start: placeOf(start), end: placeOf(end) }));
  return { ...form, text: view.text, randomParts };
}

function describeEncoded(text: string, length: number, inBase64: boolean): SecretForm {
  const randomParts = isVaried(text, 0, text.length) ? [{ start: 0, end: text.length }] : [];
  return { text, inBase64, randomParts, tellingLength: length };
}

/** Whether the parts cover most of what stands there. */
function isInParts(start: number, length: number, parts: readonly Span[]): boolean {
  const end = start + length;
  const covered = parts.reduce(
    (sum, part) => sum + Math.max(0, Math.min(part.end, end) - Math.max(part.start, start)),
    0,
  );
  return covered * 4 >= length * 3;
}

/** Lines stand alone in diffs and indented blocks. Those with spaces are words that stand elsewhere too. */
function linesOf(secret: string): string[] {
  if (!secret.includes('\n')) return [];
  const lines = secret.split('\n').map((line) => line.trim());
  return lines.filter((line) => line.length >= shortestLine && !/\s|^-----/.test(line));
}

function plainForms(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const url = encodeURIComponent(text.toWellFormed());
  const form = url.replace(/[!'()*~]/g, escapeByte).replaceAll('%20', '+');
  return [
    text,
    json,
    json.replaceAll('/', '\\/'),
    json.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
    JSON.stringify(json).slice(1, -1),
    ...[url, form].flatMap((escaped) => [escaped, escaped.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase())]),
    text.replace(/[&<>"']/g, (character) => htmlEscapes[character] ?? character),
    // As messages of the gate show names and paths.
    posix.normalize(text),
    // As a drafted rule names it.
    JSON.stringify(exactPathPattern(text)).slice(1, -1),
    makeVisible(text),
    makeVisibleLine(text),
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
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
    // Only characters made of the secret alone: neither of the text before it nor of the text after it.
    const [from, to] = [Math.ceil((offset * 8) / 6), Math.floor((padded.length * 8) / 6)];
    return [padded.toString('base64').slice(from, to), padded.toString('base64url').slice(from, to)];
  });
}
