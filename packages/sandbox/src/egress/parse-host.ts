import { isIPv4, isIPv6, SocketAddress } from 'node:net';
import { domainToASCII, domainToUnicode } from 'node:url';

/** The text is not a host that the gate accepts; the message says what is wrong with it. */
export class HostSyntaxError extends Error {}

const longestName = 253;
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** Programs read such a last label as part of an address: decimal, octal or hexadecimal. */
const number = /^(?:[0-9]+|0x[0-9a-f]*)$/;

/**
 * The name in lower case. Letters, digits and hyphens only, other scripts as A-labels; an address in any spelling,
 * a dot at the end and everything else is an error: two programs must not read the same text as two hosts.
 */
export function parseHostName(text: string): string {
  if (/^\[.*\]$/.test(text)) throw new HostSyntaxError('it is an address, not a name');
  // Before anything else: lower-casing turns some other letters into ASCII ones.
  if (!/^[A-Za-z0-9.-]+$/.test(text)) throw new HostSyntaxError('the name holds characters that no host name has');
  if (text.length > longestName) throw new HostSyntaxError(`the name is longer than ${longestName} characters`);
  const name = text.toLowerCase();
  const labels = name.split('.');
  if (number.test(labels.at(-1) ?? '')) throw new HostSyntaxError('it is an address, not a name');
  for (const each of labels) {
    if (!label.test(each)) throw new HostSyntaxError('the name has an empty, overlong or misspelt part');
    if (each.startsWith('xn--') && !isALabel(each))
      throw new HostSyntaxError('the name has a part that encodes no text');
  }
  return name;
}

/** Returns text that cannot be decoded unchanged. */
function isALabel(encoded: string): boolean {
  const text = domainToUnicode(encoded);
  return text !== encoded && domainToASCII(text) === encoded;
}

/** An address in the one spelling that the system itself uses; IPv6 in brackets, as in a URL. */
export function parseAddress(text: string): readonly [string] | undefined {
  if (isIPv4(text)) return [text];
  const inner = /^\[([0-9a-f:]+)\]$/.exec(text)?.[1];
  if (inner === undefined || !isIPv6(inner)) return undefined;
  return new SocketAddress({ address: inner, family: 'ipv6' }).address === inner ? [inner] : undefined;
}

/** Takes `host:port` apart; `defaultPort` stands in for a port that is not there. The host is not looked at. */
export function splitPort(text: string, defaultPort?: number): { readonly host: string; readonly port: number } {
  const [, host = '', portText] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(text) ?? [];
  if (host === '') throw new HostSyntaxError('it is not a host and a port');
  const port = portText === undefined ? defaultPort : parsePort(portText);
  if (port === undefined) throw new HostSyntaxError('the port is missing');
  return { host, port };
}

/** Mapped, compatible and translated addresses; in the spelling that parseAddress accepts. */
const ipv4InIpv6 = /^\[(?:::(?:ffff:)?[0-9a-f]+:[0-9a-f]+|::ffff:.*|64:ff9b:.*|2002:.*)\]$/;

/** One host, or everything below a name, as rules, leases, calls and the egress gate all read it. */
export interface NamedHost {
  /** In the one spelling: lower case, `*.` before the name, the port behind it. */
  readonly text: string;
  /** Without the `*.`. An IPv6 address is in brackets. */
  readonly name: string;
  readonly below: boolean;
  readonly isAddress: boolean;
  /** Absent: none is named. */
  readonly port?: number;
}

/**
 * Reads `api.example.com`, `*.example.com` (names below it at any depth, not itself), `localhost`, `10.0.0.5` or
 * `[fd00::5]`, each with or without `:port`. Throws HostSyntaxError.
 */
export function parseNamedHost(text: string): NamedHost {
  // Port 0 is never requested: it means that the text names none.
  const { host, port } = splitPort(text, 0);
  // A rule about the one spelling would not see the other.
  if (ipv4InIpv6.test(host)) throw new HostSyntaxError('it writes an IPv4 address as an IPv6 address');
  const isAddress = host === 'localhost' || parseAddress(host) !== undefined;
  const below = host.startsWith('*.');
  const name = isAddress ? host : parseHostName(below ? host.slice(2) : host);
  const spelled = `${below ? '*.' : ''}${name}`;
  if (port === 0) return { text: spelled, name, below, isAddress };
  return { text: `${spelled}:${port}`, name, below, isAddress, port };
}

/** As every program writes it: no sign, no leading zero. */
function parsePort(text: string): number {
  const port = /^[1-9][0-9]{0,4}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) throw new HostSyntaxError('the port is no number from 1 to 65535');
  return port;
}
