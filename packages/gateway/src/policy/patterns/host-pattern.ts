import { attempt } from '@sallyport/contract';
import { parseNamedHost } from '@sallyport/sandbox';
import type { NamedHost } from '@sallyport/sandbox';

/** A host of a call, or several. Without a port: 443 and 80 where something is opened, any where it is closed. */
export type HostPattern = Pick<NamedHost, 'text' | 'name' | 'below' | 'port'>;

const defaultPorts: readonly number[] = [443, 80];

export const everyHost: HostPattern = { text: '*', name: '', below: true };

/** Undefined: neither a host nor a pattern of them, as the egress gate reads both. */
export function parseHost(text: string): HostPattern | undefined {
  return attempt(() => parseNamedHost(text));
}

/** Whether everything that `host` stands for is in `pattern`. */
export function containsHost(pattern: HostPattern, host: HostPattern): boolean {
  if (!portsOf(host).every((port) => portsOf(pattern).includes(port))) return false;
  if (!pattern.below) return !host.below && host.name === pattern.name;
  return isBelow(pattern.name, host.name) || (host.below && host.name === pattern.name);
}

/** Whether there is a host in both, whatever the port when one of them names none. */
export function overlapsHost(a: HostPattern, b: HostPattern): boolean {
  if (a.port !== undefined && b.port !== undefined && a.port !== b.port) return false;
  if (a.below && b.below) return a.name === b.name || isBelow(a.name, b.name) || isBelow(b.name, a.name);
  if (a.below) return isBelow(a.name, b.name);
  return b.below ? isBelow(b.name, a.name) : a.name === b.name;
}

function portsOf({ port }: HostPattern): readonly number[] {
  return port === undefined ? defaultPorts : [port];
}

/** By whole labels, so that neither `evil-example.com` nor `example.com.evil.org` passes for `example.com`. */
function isBelow(parent: string, name: string): boolean {
  return parent === '' || (name.length > parent.length && name.endsWith(`.${parent}`));
}
