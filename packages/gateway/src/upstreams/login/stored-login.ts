import type { StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client';

/** What a login left behind. All of it is kept as a secret. */
export interface StoredLogin {
  /** The server that it is for; no other server gets it. */
  readonly url: string;
  readonly tokens: StoredOAuthTokens;
  /** As the authorization server registered the gate. Absent: the file of the upstream names the client. */
  readonly client?: StoredOAuthClientInformation;
  /** With which it was registered. */
  readonly redirectUrl: string;
  readonly savedAtMs: number;
}

/**
 * Stores the logins of upstream servers, by their names. A login is there completely or not at all, also after a crash;
 * `save` and `remove` resolve when that is on disk. What it holds must be known to redaction before `save` resolves or
 * `read` returns.
 */
export interface LoginStore {
  /** Undefined: there is none, or it cannot be read. */
  readonly read: (upstream: string) => StoredLogin | undefined;
  readonly save: (upstream: string, login: StoredLogin) => Promise<void>;
  readonly remove: (upstream: string) => Promise<void>;
}

/** The parts that nobody may see. */
export function secretsOf({ tokens, client }: StoredLogin): readonly string[] {
  const { access_token: access, refresh_token: refresh, id_token: id } = tokens;
  return [access, refresh, id, client?.client_secret].filter((secret) => secret !== undefined);
}

/** Undefined: it is not one, such as because a newer version wrote it. */
export function parseLogin(text: string): StoredLogin | undefined {
  let login: unknown;
  try {
    login = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { url, tokens, redirectUrl } = (login ?? {}) as Partial<StoredLogin>;
  const isWhole =
    typeof url === 'string' && typeof redirectUrl === 'string' && typeof tokens?.access_token === 'string';
  return isWhole ? (login as StoredLogin) : undefined;
}
