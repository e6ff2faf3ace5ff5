import type { HostPattern } from './host-pattern.ts';
import { HostRefused } from './host-refused.ts';
import { HostSyntaxError, parseHostName, splitPort } from './parse-host.ts';

/** A host and port that a rule grants. */
export interface Target {
  /** In lower case. An IPv6 address is in brackets. */
  readonly host: string;
  readonly port: number;
  /** Present when the rule names the address itself; otherwise `host` is a name to be resolved. */
  readonly addresses?: readonly string[];
}

/**
 * Whether a rule grants what `authority` names: `host:port`, or `host` alone where a `defaultPort` is given.
 *
 * Every request is checked by this, and so is every redirect that a tool follows. Throws HostRefused.
 */
export function checkHost(
  authority: string,
  patterns: readonly HostPattern[],
  options: { readonly defaultPort?: number } = {},
): Target {
  const { host, port } = readAs(authority, () => splitPort(authority, options.defaultPort));
  // Addresses are compared as text with the granted ones. No other address is ever read as a host.
  for (const pattern of patterns) {
    if (pattern.kind === 'address' && pattern.host === host && pattern.ports.includes(port)) {
      return { host, port, addresses: pattern.addresses };
    }
  }
  const name = readAs(authority, () => parseHostName(host));
  if (patterns.some((pattern) => pattern.ports.includes(port) && coversName(pattern, name)))
    return { host: name, port };
  const remedy = `A rule that allows the tool can grant it with the line: hosts: ['${name}:${port}']`;
  throw new HostRefused(`${name}:${port}`, 'no rule grants it to this call', remedy);
}

function coversName(pattern: HostPattern, name: string): boolean {
  switch (pattern.kind) {
    case 'name':
      return pattern.name === name;
    case 'subdomains':
      return name.endsWith(pattern.ending);
    case 'address':
      return false;
  }
}

function readAs<Read>(authority: string, read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    throw error instanceof HostSyntaxError ? new HostRefused(authority, error.message) : error;
  }
}
