import { BlockList, isIPv4, isIPv6 } from 'node:net';
import type { IPVersion } from 'node:net';

export type AddressKind =
  | 'public'
  | 'loopback'
  | 'private'
  | 'shared'
  | 'link-local'
  | 'multicast'
  | 'unspecified'
  | 'documentation'
  | 'translated'
  | 'platform'
  | 'reserved';

/** The first line that contains an address decides, so a mapped address is never treated as the one it maps to. */
const ranges: readonly (readonly [AddressKind, readonly string[]])[] = [
  // IPv4-mapped, NAT64, 6to4 and its relays, Teredo: the address that packets end up at is another one.
  ['translated', ['::ffff:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48', '2002::/16', '2001::/32', '192.88.99.0/24']],
  // Where clouds serve credentials and configuration, besides the link-local addresses.
  ['platform', ['168.63.129.16/32', '100.100.100.200/32', '192.0.0.192/32', 'fd00:ec2::/32', 'fd20:ce::/32']],
  ['unspecified', ['0.0.0.0/8', '::/128']],
  ['loopback', ['127.0.0.0/8', '::1/128']],
  ['private', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']],
  ['shared', ['100.64.0.0/10']],
  ['link-local', ['169.254.0.0/16', 'fe80::/10']],
  ['multicast', ['224.0.0.0/4', 'ff00::/8']],
  ['documentation', ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20']],
  ['reserved', ['192.0.0.0/24', '198.18.0.0/15', '240.0.0.0/4', '2001::/23']],
];

/**
 * One list for each family: a list of both takes an IPv4 address for its IPv6 spelling, which the first line refuses.
 */
const lists = {
  ipv4: ranges.map(([kind, subnets]) => [kind, listOf('ipv4', subnets)] as const),
  ipv6: ranges.map(([kind, subnets]) => [kind, listOf('ipv6', subnets)] as const),
};
/** The only part of IPv6 that is handed out for use on the internet. */
const globalUnicast = listOf('ipv6', ['2000::/3']);

/** What an address is for. Undefined: the text is not an address in the system's own spelling. */
export function addressKind(address: string): AddressKind | undefined {
  if (isIPv4(address)) return kindIn(address, 'ipv4') ?? 'public';
  // A zone names an interface of this machine.
  if (!isIPv6(address) || address.includes('%')) return undefined;
  return kindIn(address, 'ipv6') ?? (globalUnicast.check(address, 'ipv6') ? 'public' : 'reserved');
}

export function isPublicAddress(address: string): boolean {
  return addressKind(address) === 'public';
}

function kindIn(address: string, family: IPVersion): AddressKind | undefined {
  return lists[family].find(([, list]) => list.check(address, family))?.[0];
}

function listOf(family: IPVersion, subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [network = '', prefix] = subnet.split('/');
    if (network.includes(':') === (family === 'ipv6')) list.addSubnet(network, Number(prefix), family);
  }
  return list;
}
