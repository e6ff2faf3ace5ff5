import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { canonicalJson } from '@sallyport/contract';

/** What a confirm token says. */
export interface TokenClaims {
  readonly id: string;
  readonly sessionId: string;
  readonly traceId: string;
  /** `callSha256` of the calls it covers. For a plan: in the order in which they must come. */
  readonly calls: readonly string[];
  /** Canonical names of their tools, for people who look at a token. */
  readonly tools: readonly string[];
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

/** A key as it lies in its file: `id:secret`, one a line, the newest first. */
export function createConfirmKey(): string {
  return `${randomBytes(4).toString('hex')}:${randomBytes(keyBytes).toString('base64url')}`;
}

/**
 * Signs and checks confirm tokens. Only this gate can make one, and whoever holds one can do with it no more than a
 * person agreed to. Keys rotate: the newest signs, older ones are still accepted until they are removed from the file.
 */
export class ConfirmTokens {
  readonly #keys: readonly (readonly [id: string, key: Buffer])[];

  constructor(keyFile: string) {
    this.#keys = keyFile
      .split('\n')
      .map((line) => /^([0-9a-f]{8}):([\w-]{43})$/.exec(line.trim()))
      .filter((match) => match !== null)
      .map(([, id = '', key = '']) => [id, Buffer.from(key, 'base64url')] as const);
    if (this.#keys.length === 0) throw new TypeError('there is no key to sign confirm tokens with');
  }

  issue(claims: Omit<TokenClaims, 'id'>): { readonly token: string; readonly claims: TokenClaims } {
    const full: TokenClaims = { ...claims, id: randomUUID() };
    const [keyId, key] = this.#keys[0] as readonly [string, Buffer];
    const body = Buffer.from(canonicalJson(full as never)).toString('base64url');
    return { token: `${prefix}.${keyId}.${body}.${sign(key, keyId, body)}`, claims: full };
  }

  /** Undefined for what this gate did not sign. Says nothing about expiry or use. */
  read(token: string): TokenClaims | undefined {
    if (token.length > longestToken) return undefined;
    const [start, keyId = '', body = '', signature = '', ...rest] = token.split('.');
    const key = this.#keys.find(([id]) => id === keyId)?.[1];
    if (start !== prefix || key === undefined || rest.length > 0) return undefined;
    const [given, wanted] = [Buffer.from(signature), Buffer.from(sign(key, keyId, body))];
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
    return JSON.parse(Buffer.from(body, 'base64url').toString()) as TokenClaims;
  }
}

function sign(key: Buffer, keyId: string, body: string): string {
  return createHmac('sha256', key).update(`${prefix}.${keyId}.${body}`).digest('base64url');
}
