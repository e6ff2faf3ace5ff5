import { addressKind } from './address-kind.ts';
import type { AddressKind } from './address-kind.ts';
import { HostSyntaxError, parseAddress, parseNamedHost } from './parse-host.ts';

/** Which hosts and ports a line of a rule grants. */
export type HostPattern = {
  /** As in the rule. */
  readonly text: string;
  readonly ports: readonly number[];
} & (
  | { readonly kind: 'name'; readonly name: string }
  /** Names that end in this, which starts with a dot. */
  | { readonly kind: 'subdomains'; readonly ending: string }
  /** The pattern names the machine itself: nothing is resolved, and it need not be public. */
  | { readonly kind: 'address'; readonly host: string; readonly addresses: readonly string[] }
);

const portsOfTheWeb = [443, 80];
const loopback = ['127.0.0.1', '::1'] as const;
/** Of the addresses that are not public, only these can be granted at all. */
const grantable: ReadonlySet<AddressKind | undefined> = new Set<AddressKind>([
  'public',
  'loopback',
  'private',
  'shared',
]);

/**
 * What a line of a rule opens. Without a port: 443 and 80. Addresses need one.
 *
 * A name is connected only to public addresses, whatever it resolves to, because the author of the rule does not
 * control its DNS. To grant a machine in the own network, a rule must name its address and port.
 *
 * Failure: throws HostSyntaxError.
 */
export function parseHostPattern(text: string): HostPattern {
  const { name: host, below, isAddress, port } = parseNamedHost(text);
  const ports = port === undefined ? portsOfTheWeb : [port];
  const addresses = host === 'localhost' ? loopback : parseAddress(host);
  if (isAddress && addresses !== undefined) {
    if (port === undefined) throw new HostSyntaxError(`${host} needs a port, as in ${host}:8080`);
    const kind = addressKind(addresses[0]);
    if (!grantable.has(kind)) throw new HostSyntaxError(`${host} is a ${kind} address, which no rule can grant`);
    return { text, ports, kind: 'address', host, addresses };
  }
  if (!below) return { text, ports, kind: 'name', name: host };
  if (!host.includes('.')) throw new HostSyntaxError(`*.${host} would grant a whole top-level domain`);
  return { text, ports, kind: 'subdomains', ending: `.${host}` };
}
