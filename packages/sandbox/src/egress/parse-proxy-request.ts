import type { IncomingMessage } from 'node:http';
import { valuesOf } from './proxied-headers.ts';

/** The request is not one for a proxy, or could be read in two ways. The message is for the sender. */
export class BadProxyRequest extends Error {}

export interface ProxyRequest {
  /** Not checked yet: `host` or `host:port`. */
  readonly authority: string;
  /** Path and query. */
  readonly path: string;
  /** How the body is marked off. The parser has refused messages that say both. */
  readonly framing: readonly string[];
}

/** Methods whose requests need not say that they have no body. */
const usuallyBodiless: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE']);

/** Reads a request in absolute form, `GET http://host/path`. Throws BadProxyRequest. */
export function parseProxyRequest(request: IncomingMessage): ProxyRequest {
  const [, authority, rest = '/'] = /^http:\/\/([^/?#]+)([/?][^#]*)?$/i.exec(request.url ?? '') ?? [];
  if (authority === undefined) {
    throw new BadProxyRequest('This is a proxy: ask for http://host/path, or CONNECT to host:port for anything else.');
  }
  const [host = '', ...otherHosts] = valuesOf(request, 'host');
  if (otherHosts.length > 0 || withoutPort(host) !== withoutPort(authority)) {
    throw new BadProxyRequest('The Host header names another host than the request line.');
  }
  if (request.headers.upgrade !== undefined) {
    throw new BadProxyRequest('The protocol cannot be changed here: use CONNECT.');
  }
  const path = rest.startsWith('?') ? `/${rest}` : rest;
  return { authority, path, framing: frame(request) };
}

function frame(request: IncomingMessage): readonly string[] {
  const [encoding, ...otherEncodings] = valuesOf(request, 'transfer-encoding');
  const lengths = valuesOf(request, 'content-length');
  if (encoding !== undefined) {
    if (encoding.toLowerCase() !== 'chunked' || otherEncodings.length > 0 || lengths.length > 0) {
      throw new BadProxyRequest('The body must be marked off by its length or in chunks, and by nothing else.');
    }
    return ['Transfer-Encoding', 'chunked'];
  }
  if (lengths.length > 1) throw new BadProxyRequest('The length of the body is said twice.');
  // The length itself is passed on with the other headers.
  return lengths.length === 1 || usuallyBodiless.has(request.method ?? '') ? [] : ['Content-Length', '0'];
}

function withoutPort(authority: string): string {
  return authority.toLowerCase().replace(/:80$/, '');
}
