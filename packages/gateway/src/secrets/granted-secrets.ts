import { matchesName } from '../policy/patterns/name-pattern.ts';
import type { SecretGrant, SecretUse } from '../call/secret-grant.ts';

/**
 * The names of the secrets that a use may have, each once. A value that is meant for a host is for requests to that
 * host only, and never for the tool itself: what a tool holds it can send anywhere.
 */
export function grantedSecrets(grants: readonly SecretGrant[], use: SecretUse): string[] {
  const fitting = grants.filter(
    ({ tools, hosts }) => tools.some((pattern) => matchesName(pattern, use.tool)) && isForHost(hosts, use.host),
  );
  return [...new Set(fitting.map(({ name }) => name))];
}

function isForHost(hosts: readonly string[], host: string | undefined): boolean {
  if (host === undefined) return hosts.length === 0;
  const plain = plainHost(host);
  return plain !== '' && hosts.some((pattern) => matchesHost(plainHost(pattern), plain));
}

/** By whole labels, so that neither `evil-example.com` nor `example.com.evil.org` passes for `example.com`. */
function matchesHost(pattern: string, host: string): boolean {
  if (!pattern.startsWith('*.')) return pattern === host;
  const suffix = pattern.slice(1);
  return !suffix.includes('*') && suffix.length > 1 && host.length > suffix.length && host.endsWith(suffix);
}

function plainHost(host: string): string {
  return host.toLowerCase().replace(/\.$/, '');
}
