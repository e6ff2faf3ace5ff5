/** A host of a call, or several: `*.example.com` stands for everything below a name. Lower case, without a last dot. */
export interface HostPattern {
  readonly text: string;
  /** Without the `*.`; empty for every host there is. */
  readonly name: string;
  readonly below: boolean;
  /** Absent: 443 and 80 where something is opened, any where it is closed. */
  readonly port?: number;
}

const label = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const hostShape = new RegExp(`^(\\*\\.)?(${label}(?:\\.${label})*)(?::(\\d{1,5}))?$`);
const defaultPorts: readonly number[] = [443, 80];

export const everyHost: HostPattern = { text: '*', name: '', below: true };

/** Undefined: neither a host name nor a pattern of them. Addresses in brackets and letters beyond ASCII are none. */
export function parseHost(text: string): HostPattern | undefined {
  // Some letters beyond ASCII turn into ASCII ones when lowered, and would pass for them.
  if (!/^[!-~]+$/.test(text)) return undefined;
  // Two names that differ in case or in a last dot are one to every resolver.
  const plain = text.toLowerCase().replace(/\.(?=$|:\d+$)/, '');
  const [, star, name, port] = hostShape.exec(plain) ?? [];
  if (name === undefined || name.length > 253) return undefined;
  const number = port === undefined ? undefined : Number(port);
  if (number !== undefined && (number < 1 || number > 65_535 || String(number) !== port)) return undefined;
  return { text: plain, name, below: star !== undefined, ...(number === undefined ? {} : { port: number }) };
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
