import { parseNamedHost } from '@sallyport/sandbox';
import { refuse } from '../../call/refusal.ts';
import { ToolRefused } from '../../call/tool.ts';

export interface PageAddress {
  readonly url: string;
  /** `host:port`, always with the port: what rules and the gate compare. */
  readonly authority: string;
}

/**
 * Throws ToolRefused for everything but a plain http or https address: what two programs could read differently, such as
 * a user name, a backslash or another spelling of an address, reaches no browser.
 */
export function parsePageAddress(text: string): PageAddress {
  const [, written = ''] = /^https?:\/\/([^/?#]*)/i.exec(text) ?? [];
  const url = URL.parse(text);
  if (written === '' || url === null) throw refuseAddress('only http:// and https:// addresses are opened');
  if (/[\s\\\p{Cc}\p{Cf}]/u.test(text)) throw refuseAddress('it holds a space, a backslash or a hidden character');
  if (written.includes('@')) throw refuseAddress('it holds a user name');
  if (url.hostname !== written.toLowerCase().replace(/:\d*$/, '')) throw refuseAddress('its host is spelled oddly');
  const authority = authorityOf(url.href);
  try {
    parseNamedHost(authority);
  } catch {
    throw refuseAddress('its host is none');
  }
  return { url: url.href, authority };
}

/** Of an address that a browser has read. */
export function authorityOf(href: string): string {
  const url = URL.parse(href);
  return url === null ? '' : `${url.hostname}:${url.port || (url.protocol === 'https:' ? '443' : '80')}`;
}

function refuseAddress(why: string): ToolRefused {
  const message = `The browser does not open this address: ${why}.`;
  return new ToolRefused(refuse('INVALID_ARGUMENTS', 'url', message, { remedy: 'Use another address.' }));
}
