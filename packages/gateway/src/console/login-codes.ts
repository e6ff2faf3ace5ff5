import { hash, randomBytes } from 'node:crypto';

interface IssuedCode {
  /** The session of the person who asked for it. */
  readonly personId: string;
  readonly expiresAtMs: number;
}

const lifetimeMs = 60_000;

/**
 * One-time codes that log a person's browser in to the console. They are kept in memory and by their hash only:
 * a restart or a look at the memory of the daemon leaves nothing that opens a door.
 */
export class LoginCodes {
  readonly #issued = new Map<string, IssuedCode>();

  issue(personId: string, nowMs: number): { readonly code: string; readonly expiresAtMs: number } {
    for (const [digest, { expiresAtMs }] of this.#issued) {
      if (expiresAtMs <= nowMs) this.#issued.delete(digest);
    }
    const code = randomBytes(32).toString('base64url');
    const expiresAtMs = nowMs + lifetimeMs;
    this.#issued.set(hash('sha256', code), { personId, expiresAtMs });
    return { code, expiresAtMs };
  }

  /** Whose code it is. Undefined for a code that is unknown, used or too old; asking uses it up. */
  redeem(code: string, nowMs: number): string | undefined {
    const digest = hash('sha256', code);
    const issued = this.#issued.get(digest);
    this.#issued.delete(digest);
    return issued === undefined || issued.expiresAtMs <= nowMs ? undefined : issued.personId;
  }
}
