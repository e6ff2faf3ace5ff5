import { isWithin } from '@sallyport/sandbox';
import { matchesName } from '../../policy/patterns/name-pattern.ts';
import type { Lease } from '../../call/session.ts';
import type { Grants } from '../../call/verdict.ts';

/** What remains of the rules' grants under a lease: it narrows them as it narrows everything else. */
export function narrowGrants(grants: Grants, { paths, hosts }: Pick<Lease, 'paths' | 'hosts'>): Grants {
  if (paths === undefined && hosts === undefined) return grants;
  return {
    ...grants,
    ...(paths === undefined ? {} : { read: overlap(grants.read, paths), write: overlap(grants.write, paths) }),
    ...(hosts === undefined
      ? {}
      : { hosts: grants.hosts.filter((host) => hosts.some((pattern) => matchesName(pattern, nameOf(host)))) }),
  };
}

/** The folders that lie in one of each list: whichever of two is the deeper one. */
function overlap(granted: readonly string[], leased: readonly string[]): readonly string[] {
  const both = granted.flatMap((folder) =>
    leased.flatMap((root) => (isWithin(root, folder) ? [folder] : isWithin(folder, root) ? [root] : [])),
  );
  return [...new Set(both)];
}

function nameOf(host: string): string {
  return host.replace(/:\d+$/, '');
}
