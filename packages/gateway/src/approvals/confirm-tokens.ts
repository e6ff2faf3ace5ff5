import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { ConfigError } from '../call/fault.ts';
import { canonicalJson } from '@sallyport/contract';
import type { Mode } from '../call/session.ts';

/** What a confirm token says. */
export interface TokenClaims {
  readonly id: string;
  readonly sessionId: string;
  readonly traceId: string;
  /** `callSha256` of the calls it covers. For a plan: in the order in which they must come. */
  readonly calls: readonly string[];
  /** The effects as they were shown, by the same order. Absent: the token of a plan, or one for any number of uses. */
  readonly effects?: readonly string[];
  /** The rules that asked about each, by the same order. Absent: none, or the token of a plan, which has them itself. */
  readonly askedBy?: readonly (readonly string[])[];
  /** Canonical names of their tools, for people who look at a token. */
  readonly tools: readonly string[];
  /** Under which it was given: it ends with a change of either. */
  readonly rulesHash: string;
  readonly mode: Mode;
  readonly issuedBy: string;
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
  /** May be used more than once, for each of its calls. */
  readonly reusable: boolean;
  /** The plan whose approved steps these are. Absent: none. */
  readonly planId?: string;
}

const prefix = 'spct1';
const keyBytes = 32;
const longestToken = 64 * 1024;

/** A key as its file has it: `id:secret`, one a line, the newest first. */
export function createConfirmKey(): string {
  return writeKey({ id: randomBytes(4).toString('hex'), secret: randomBytes(keyBytes) });
}

/**
 * Signs and checks confirm tokens. Only this gate can make one, and its holder can do with it no more than a
 * person agreed to. Keys rotate: the newest signs, older ones are still accepted until they are removed from the file.
 */
export class ConfirmTokens {
  #keys: readonly Key[];

  /** Of the newest first. Throws ConfigError when there is no key. */
  constructor(keyFile: string) {
    this.#keys = readKeys(keyFile);
  }

  /**
   * Signs with a new key from now on; `save` makes the new text of the key file durable before that. The former key is
   * still accepted, unless all tokens that it signed are revoked.
   */
  rotate(save: (keyFile: string) => void, { forget }: { readonly forget: boolean }): void {
    const [former] = this.#keys;
    const kept = forget || former === undefined ? [] : [writeKey(former)];
    const keyFile = [createConfirmKey(), ...kept].join('\n');
    save(keyFile);
    this.#keys = readKeys(keyFile);
  }

  /** With an id of its own unless one is given. */
  issue(claims: Omit<TokenClaims, 'id'> & { readonly id?: string }): {
    readonly token: string;
    readonly claims: TokenClaims;
  } {
    const full: TokenClaims = { id: randomUUID(), ...claims };
    const { id: keyId, secret: key } = this.#keys[0] as Key;
    const body = Buffer.from(canonicalJson(full as never)).toString('base64url');
    return { token: `${prefix}.${keyId}.${body}.${sign(key, keyId, body)}`, claims: full };
  }

  /** Undefined for what this gate did not sign. Says nothing about expiry or use. */
  read(token: string): TokenClaims | undefined {
    if (token.length > longestToken) return undefined;
    const [start, keyId = '', body = '', signature = '', ...rest] = token.split('.');
    const key = this.#keys.find(({ id }) => id === keyId)?.secret;
    if (start !== prefix || key === undefined || rest.length > 0) return undefined;
    const [given, wanted] = [Buffer.from(signature), Buffer.from(sign(key, keyId, body))];
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
    return JSON.parse(Buffer.from(body, 'base64url').toString()) as TokenClaims;
  }
}

interface Key {
  readonly id: string;
  readonly secret: Buffer;
}

function readKeys(keyFile: string): readonly Key[] {
  const keys = keyFile
    .split('\n')
    .map((line) => /^([0-9a-f]{8}):([\w-]{43})$/.exec(line.trim()))
    .filter((match) => match !== null)
    .map(([, id = '', secret = '']) => ({ id, secret: Buffer.from(secret, 'base64url') }));
  if (keys.length === 0) {
    throw new ConfigError(
      'The key of the confirm tokens in keys/confirm.key is damaged.',
      'Restore it from a backup, or remove it: the next start makes a new one, and plans in progress must be proposed again.',
    );
  }
  return keys;
}

function writeKey({ id, secret }: Key): string {
  return `${id}:${secret.toString('base64url')}`;
}

function sign(key: Buffer, keyId: string, body: string): string {
  return createHmac('sha256', key).update(`${prefix}.${keyId}.${body}`).digest('base64url');
}
