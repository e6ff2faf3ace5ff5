import { addressKind } from './address-kind.ts';
import type { AddressKind } from './address-kind.ts';
import { HostSyntaxError, parseAddress, parseHostName, splitPort } from './parse-host.ts';

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
 * Reads `api.example.com`, `*.example.com` (names below it at any depth, not itself), either with `:port`, or
 * `localhost:5432`, `10.0.0.5:8080`, `[fd00::5]:8080`. Without a port: 443 and 80.
 *
 * A name is connected only to public addresses, whatever it resolves to: whoever runs its DNS is not whoever wrote the
 * rule. A machine of the own network is granted by the rule that says its address and port itself.
 *
 * Failure: throws HostSyntaxError.
 */
export function parseHostPattern(text: string): HostPattern {
  // Port 0 is never asked for: it says that the pattern names none.
  const { host, port } = splitPort(text, 0);
  const ports = port === 0 ? portsOfTheWeb : [port];
  const addresses = host === 'localhost' ? loopback : parseAddress(host);
  if (addresses !== undefined) {
    if (port === 0) throw new HostSyntaxError(`${host} needs a port, as in ${host}:8080`);
    const kind = addressKind(addresses[0]);
    if (!grantable.has(kind)) throw new HostSyntaxError(`${host} is a ${kind} address, which no rule can grant`);
    return { text, ports, kind: 'address', host, addresses };
  }
  if (!host.startsWith('*.')) return { text, ports, kind: 'name', name: parseHostName(host) };
  const parent = parseHostName(host.slice(2));
  if (!parent.includes('.')) throw new HostSyntaxError(`*.${parent} would grant a whole top-level domain`);
  return { text, ports, kind: 'subdomains', ending: `.${parent}` };
}
