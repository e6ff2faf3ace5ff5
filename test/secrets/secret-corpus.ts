import { createHash } from 'node:crypto';
import { credentialPatterns } from '../../packages/gateway/src/redaction/credentials/index.ts';
import { fillIn } from '../../packages/gateway/src/redaction/credentials/credential-example.test-kit.ts';
import { Draw } from './random-secrets.ts';
import { testSeed } from './test-seed.ts';

/** A text that holds secrets, and pieces of them of which none may be seen. */
export interface Leak {
  readonly label: string;
  readonly text: string;
  /** The gate knows the secret itself; otherwise only its shape gives it away. */
  readonly isKnown: boolean;
  readonly pieces: readonly string[];
}

let drawn = 0;

/** Bytes that look random and follow from the seed, so that a leak that was found is found again. */
function randomBytes(size: number): Buffer {
  return createHash('shake256', { outputLength: size }).update(`${testSeed} ${drawn++}`).digest();
}

const pieceLength = 12;
/** A shorter piece occurs in other places by chance. */
const shortestPiece = 8;

/** A key in the form of a trace id. */
export function newHexKey(): string {
  return randomBytes(16).toString('hex');
}

/** Secrets of many kinds, as people would give them to the gate. */
export function newKnownSecrets(): Record<string, string> {
  const random = (): string => randomBytes(24).toString('base64url');
  return {
    random: random(),
    words: `correct horse ${randomBytes(4).toString('hex')} battery`,
    signs: `p"a\\s/s+${randomBytes(6).toString('hex')}&w=<ö>'r%d`,
    digits: String(randomBytes(6).readUIntBE(0, 6) + 1e12),
    lines: Array.from({ length: 4 }, () => randomBytes(30).toString('base64')).join('\n'),
    long: randomBytes(3000).toString('base64'),
  };
}

const encodings: Record<string, (secret: string) => string> = {
  raw: (secret) => secret,
  JSON: (secret) => JSON.stringify({ inner: secret }),
  'JSON in JSON': (secret) => JSON.stringify(JSON.stringify([secret])),
  URL: (secret) => `https://example.com/?q=${encodeURIComponent(secret)}`,
  form: (secret) => new URLSearchParams({ q: secret }).toString(),
  'base64, as it is': (secret) => Buffer.from(secret).toString('base64'),
  'base64, one byte before': (secret) => Buffer.from(`:${secret};`).toString('base64'),
  'base64, two bytes before': (secret) => Buffer.from(`::${secret};;`).toString('base64url'),
  hexadecimal: (secret) => Buffer.from(secret).toString('hex'),
  capitals: (secret) => Buffer.from(secret).toString('hex').toUpperCase(),
};

/** The secret in every encoding, each with words around it. */
export function writeLeaks(label: string, secret: string): Leak[] {
  return Object.entries(encodings).map(([how, encode]) => {
    const encoded = encode(secret);
    return {
      label: `${label}, ${how}`,
      text: `it is ${encoded} now`,
      isKnown: true,
      pieces: piecesOf(encoded, frameOf(how)),
    };
  });
}

/** What is not known, but has the shape of a credential. */
export function writeShapedLeaks(): Leak[] {
  const draw = new Draw(`shaped ${testSeed}`);
  return credentialPatterns.flatMap(({ id, match }) =>
    match.map((template, at) => {
      const { text, secrets } = fillIn(template, (end) => draw.below(end));
      const pieces = secrets.flatMap((secret) => piecesOf(secret, 0));
      return { label: `${id} ${at + 1}`, text: `see ${text} there`, isKnown: false, pieces };
    }),
  );
}

/** How many characters at either end of an encoded text are not the secret's. */
function frameOf(how: string): number {
  if (how === 'URL') return 'https://example.com/?q='.length;
  return how === 'raw' || how === 'hexadecimal' || how === 'capitals' ? 0 : 12;
}

function piecesOf(text: string, frame: number): string[] {
  const inner = text.slice(frame, Math.max(frame + 1, text.length - Math.min(frame, 12)));
  const found: string[] = [];
  for (const line of inner.split(/\n|\\+n/)) {
    for (let at = 0; at + pieceLength <= line.length; at += 5) found.push(line.slice(at, at + pieceLength));
    if (line.length >= shortestPiece && line.length < pieceLength) found.push(line);
  }
  return found;
}

/**
 * Which pieces occur in the bytes. Most have one length, so that one pass over the bytes looks for all of them; it looks
 * closely only where the first three bytes are those of some piece.
 */
export function findLeaks(bytes: Buffer, leaks: readonly Leak[]): { readonly label: string; readonly piece: string }[] {
  const all = leaks.flatMap(({ label, pieces }) =>
    pieces.map((piece) => ({ label, piece, bytes: Buffer.from(piece) })),
  );
  const wanted = new Map(all.map((each) => [each.bytes.toString('latin1'), each]));
  const found = all.filter((each) => each.bytes.length !== pieceLength && bytes.includes(each.bytes));
  const isBeginning = new Uint8Array(1 << 24);
  for (const each of all) isBeginning[each.bytes.readUIntBE(0, 3)] = 1;
  let beginning = 0;
  for (let at = 0; at + pieceLength <= bytes.length + 2; at++) {
    // The three bytes from two before here on.
    beginning = ((beginning << 8) | (bytes[at] ?? 0)) & 0xff_ffff;
    if (at < 2 || isBeginning[beginning] === 0) continue;
    const hit = wanted.get(bytes.toString('latin1', at - 2, at - 2 + pieceLength));
    if (hit !== undefined) found.push(hit);
  }
  return found;
}
