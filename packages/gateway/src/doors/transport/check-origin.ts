import type { IncomingHttpHeaders } from 'node:http2';

/** Refuses what a web page in the user's browser could have sent. */
export interface OriginCheck {
  /** Why the request is refused, or undefined when it may pass. */
  readonly refusalOf: (headers: IncomingHttpHeaders) => string | undefined;
}

const loopbackNames = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * For TCP. A page can make its own name resolve to this machine (DNS rebinding), so the name asked for must be one of
 * ours; and a browser names the page in `Origin`, so any origin but our own is turned away.
 */
export function checkOriginAtPort(port: number, furtherHosts: readonly string[] = []): OriginCheck {
  const hosts = [...loopbackNames, ...furtherHosts.map((host) => host.toLowerCase())];
  const authorities = new Set(hosts.flatMap((host) => [host, `${host}:${port}`]));
  const origins = new Set(hosts.map((host) => `http://${host}:${port}`));
  const isOurs = (host: string | undefined) =>
    host !== undefined && (authorities.has(host) || authorities.has(host.toLowerCase()));
  return {
    refusalOf: ({ ':authority': authority, host = authority, origin }) => {
      if (!isOurs(host) || (authority !== undefined && !isOurs(authority))) return foreignHost;
      return origin === undefined || origins.has(origin) ? undefined : foreignOrigin;
    },
  };
}

/** For unix sockets, which no browser reaches: the host is whatever the client made up, and no origin is ours. */
export const checkOriginAtSocket: OriginCheck = {
  refusalOf: ({ origin }) => (origin === undefined ? undefined : foreignOrigin),
};

const foreignHost = `The Host header must name this machine: ${loopbackNames.join(', ')}.`;
const foreignOrigin = 'Requests from web pages of other origins are refused.';
