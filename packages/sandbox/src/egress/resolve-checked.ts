import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import { addressKind } from './address-kind.ts';
import type { Target } from './check-host.ts';
import { HostRefused } from './host-refused.ts';

const remedy =
  "If a machine of your own network is meant, grant its address and port themselves, such as hosts: ['10.0.0.5:8080']";

/** All addresses of a name, in the order to try. Rejects when there is none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/**
 * The addresses to connect to: the caller dials these and never resolves the name again, so that a name server which
 * answers differently the next time changes nothing.
 *
 * One answer that is not public refuses all of them. Throws HostRefused; what `resolve` throws passes through.
 */
export async function resolveChecked(
  target: Target,
  resolve: Resolve = resolveBySystem,
  listOwnAddresses: () => readonly string[] = listInterfaces,
): Promise<readonly string[]> {
  if (target.addresses !== undefined) return target.addresses;
  const addresses = await resolve(target.host);
  if (addresses.length === 0) throw new Error(`${target.host} has no address`);
  const own = new Set(listOwnAddresses());
  for (const address of addresses) {
    const kind = addressKind(address);
    if (kind === 'public' && !own.has(address)) continue;
    const what = kind === 'public' ? 'this machine itself' : `a ${kind ?? 'malformed'} address`;
    throw new HostRefused(`${target.host}:${target.port}`, `the name leads to ${what}`, remedy);
  }
  return addresses;
}

/** As every program of this machine resolves names, its hosts file included. */
export async function resolveBySystem(name: string): Promise<readonly string[]> {
  const answers = await lookup(name, { all: true, order: 'ipv4first' });
  return answers.map(({ address }) => address);
}

/** A public address of this machine leads to its own services, past the firewall that guards them from outside. */
function listInterfaces(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((each) => each?.map(({ address }) => address) ?? []);
}
