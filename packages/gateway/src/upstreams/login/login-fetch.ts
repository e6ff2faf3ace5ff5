import type { FetchLike } from '@modelcontextprotocol/client';
import { checkHost, parseHostPattern, HostRefused, parseHostName } from '@sallyport/sandbox';
import type { Resolve } from '@sallyport/sandbox';
import { guardFetch } from '../transport/guarded-fetch.ts';
import type { GuardedFetch } from '../transport/guarded-fetch.ts';

export interface LoginFetchOptions {
  /** The server that requires the login. */
  readonly url: URL;
  /** Hosts that an operator named although they are not public. */
  readonly hosts: readonly string[];
  /** Ends what is under way. Absent: every request ends in its own time. */
  readonly signal?: AbortSignal;
  /** For tests. Absent: as every program of this machine. */
  readonly resolve?: Resolve;
}

const withinMs = 15_000;
const maxBytes = 256 * 1024;
/** The server, its authorization server, and other hosts that these use. */
const mostOrigins = 6;

/**
 * Requests of a login. The server says where they go, so the gate does not trust that: it connects only to the server's
 * own origin, to hosts that the operator named, and to public hosts over https, and to nothing else in the own network.
 */
export function openLoginFetch({ url, hosts, signal, resolve }: LoginFetchOptions): GuardedFetch {
  const named = hosts.map(parseHostPattern);
  const open = new Map<string, GuardedFetch>();
  const check = (wanted: URL): void => {
    if (wanted.origin === url.origin) return;
    const isSecure = wanted.protocol === 'https:';
    const port = wanted.port === '' ? (isSecure ? 443 : 80) : Number(wanted.port);
    const authority = `${wanted.hostname}:${port}`;
    if (isSecure && isName(wanted.hostname)) return;
    try {
      const { addresses } = checkHost(authority, named);
      if (isSecure || addresses?.every((address) => address === '::1' || address.startsWith('127.')) === true) return;
    } catch (error) {
      if (!(error instanceof HostRefused)) throw error;
    }
    throw new LoginHostRefused(authority);
  };
  const fetch: FetchLike = async (input, init = {}) => {
    const wanted = new URL(input);
    check(wanted);
    let guarded = open.get(wanted.origin);
    if (guarded === undefined) {
      if (open.size >= mostOrigins) throw new TypeError('the login leads to too many hosts');
      const guard = { onBroken: () => undefined, maxBytes, ...(resolve === undefined ? {} : { resolve }) };
      guarded = guardFetch(new URL(wanted.origin), guard);
      open.set(wanted.origin, guarded);
    }
    const ends = [AbortSignal.timeout(withinMs), ...(signal ? [signal] : []), ...(init.signal ? [init.signal] : [])];
    return guarded.fetch(wanted, { ...init, signal: AbortSignal.any(ends) });
  };
  return {
    fetch,
    close: () => {
      for (const { close } of open.values()) close();
      open.clear();
    },
  };
}

/** The login leads to a host that is not allowed. A TypeError, because the SDK reads others as a missing document. */
export class LoginHostRefused extends TypeError {
  readonly authority: string;

  constructor(authority: string) {
    super(`The login leads to ${authority}, which is not public and reached over https.`);
    this.name = 'LoginHostRefused';
    this.authority = authority;
  }
}

function isName(host: string): boolean {
  if (host === 'localhost' || host.endsWith('.localhost')) return false;
  try {
    parseHostName(host);
    return true;
  } catch {
    return false;
  }
}
