import { HostSyntaxError, parseNamedHost } from '@sallyport/sandbox';
import { refuse } from '../../call/refusal.ts';
import { ToolRefused } from '../../call/tool.ts';

/** Where a request goes, in the one reading that rules, gate and client share. */
export interface WebAddress {
  readonly url: URL;
  /** A name, `localhost` or an address; IPv6 in brackets. */
  readonly host: string;
  /** `host:port`, always with the port. */
  readonly authority: string;
  readonly isSecure: boolean;
  /** The URL names a machine and no name: nothing is resolved, and only a rule that says the same reaches it. */
  readonly isAddress: boolean;
}

const longestAddress = 8192;

/**
 * Reads an http or https URL as a caller wrote it. The host has to stand there as it is reached: other spellings of an
 * address, a user name, a backslash and everything else that two programs read differently are refused.
 */
export function parseWebAddress(text: string): WebAddress {
  const [, scheme = '', authority = ''] = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)/i.exec(text) ?? [];
  if (!/^https?$/i.test(scheme)) throw refuseAddress(text, 'only http:// and https:// addresses are reached');
  if (text.length > longestAddress) throw refuseAddress(authority, 'the address is too long');
  // A URL parser drops some of these without a word.
  if (/[\s\\\p{Cc}\p{Cf}]/u.test(text))
    throw refuseAddress(authority, 'the address holds a space or a hidden character');
  if (authority.includes('@')) throw refuseAddress(authority.replace(/^.*@/, ''), 'the address holds a user name');
  const address = readUrl(URL.parse(text), authority);
  if (address.host !== authority.toLowerCase().replace(/:\d*$/, '')) {
    throw refuseAddress(authority, `the host has to be written as it is reached, which is ${address.host}`);
  }
  return address;
}

/** Where an answer leads: its text is read against the address that it came from. */
export function resolveLocation(location: string, from: WebAddress): WebAddress {
  const url = URL.parse(location, from.url);
  if (url !== null && !/^https?:$/.test(url.protocol)) throw refuseAddress(url.href, 'it is no web address');
  if (url !== null && url.username + url.password !== '') throw refuseAddress(url.host, 'it holds a user name');
  return readUrl(url, location);
}

function readUrl(url: URL | null, written: string): WebAddress {
  if (url === null) throw refuseAddress(written, 'it is no web address');
  const isSecure = url.protocol === 'https:';
  const authority = `${url.hostname}:${url.port === '' ? (isSecure ? 443 : 80) : url.port}`;
  url.hash = '';
  try {
    const { name, isAddress } = parseNamedHost(authority);
    return { url, host: name, authority, isSecure, isAddress };
  } catch (error) {
    if (!(error instanceof HostSyntaxError)) throw error;
    throw refuseAddress(written, error.message);
  }
}

/** A refusal that names where it would have gone. */
export function refuseAddress(where: string, why: string, forOperators?: string): ToolRefused {
  // The refusal is redacted as it stands, so that a secret in it is found whole.
  const target = where.replaceAll(/[^\x20-\x7e]/g, '?');
  return new ToolRefused(
    refuse('HOST_REFUSED', 'egress', `The gate does not connect to ${target}: ${why}.`, {
      remedy: 'Use another address.',
      ...(forOperators === undefined ? {} : { forOperators }),
    }),
  );
}
