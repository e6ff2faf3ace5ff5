import type { ProgramLimits } from '@sallyport/sandbox';
import { programLimitNames, isWithin } from '@sallyport/sandbox';
import type { SecretGrant } from '../../call/secret-grant.ts';
import { noGrants } from '../../call/verdict.ts';
import type { Grants } from '../../call/verdict.ts';
import { resolveLinks } from '../patterns/canonical-path.ts';
import { containsHost, parseHost } from '../patterns/host-pattern.ts';
import { expandPath } from '../judge/place-path.ts';
import type { PathVariables } from '../judge/place-path.ts';
import type { Rule, RuleGrants } from './rule.ts';

/** What one rule grants for its tools, with its paths as the file system sees them now. */
export function compileGrants(grants: RuleGrants, tools: Rule['tools'], variables: PathVariables): Grants {
  const locate = ({ text }: { readonly text: string }): string => resolveLinks(expandPath(text, variables));
  return {
    ...grants,
    read: grants.read.map(locate),
    write: grants.write.map(locate),
    secrets: grants.secrets.map((secret) => ({ ...secret, tools })),
  };
}

/** All that several rules grant to the same thing. Of two values for one variable the earlier rule's counts. */
export function uniteGrants(all: readonly Grants[]): Grants {
  const [first = noGrants, ...others] = all;
  return others.reduce(
    (a, b) => ({
      read: distinct([...a.read, ...b.read]),
      write: distinct([...a.write, ...b.write]),
      hosts: distinct([...a.hosts, ...b.hosts]),
      environment: { ...b.environment, ...a.environment },
      secrets: [...a.secrets, ...b.secrets],
      limits: lowerLimits(a.limits, b.limits),
      unixSockets: a.unixSockets || b.unixSockets,
      exactLimits: a.exactLimits || b.exactLimits,
      isolation: a.isolation === 'none' || b.isolation === 'none' ? 'none' : 'sandbox',
    }),
    first,
  );
}

/**
 * What two parts of a call both get. Programs of one call share one sandbox, so that each of them must be let have what
 * any of them gets: nobody obtains something by putting two commands into one call.
 */
export function intersectGrants(a: Grants, b: Grants): Grants {
  const readableIn = ({ read, write }: Grants): readonly string[] => [...read, ...write];
  return {
    read: inBoth(readableIn(a), readableIn(b), isWithin),
    write: inBoth(a.write, b.write, isWithin),
    hosts: inBoth(a.hosts, b.hosts, isHostWithin),
    environment: Object.fromEntries(
      Object.entries(a.environment).filter(([name, value]) => b.environment[name] === value),
    ),
    secrets: inBoth(a.secrets, b.secrets, isSameSecret),
    limits: lowerLimits(a.limits, b.limits),
    unixSockets: a.unixSockets && b.unixSockets,
    // It takes away: what one of them demands is demanded.
    exactLimits: a.exactLimits || b.exactLimits,
    isolation: a.isolation === 'none' && b.isolation === 'none' ? 'none' : 'sandbox',
  };
}

function inBoth<T>(a: readonly T[], b: readonly T[], contains: (outer: T, inner: T) => boolean): readonly T[] {
  const fromA = a.filter((inner) => b.some((outer) => contains(outer, inner)));
  const fromB = b.filter((inner) => a.some((outer) => contains(outer, inner)));
  return distinct([...fromA, ...fromB]);
}

function isHostWithin(outer: string, inner: string): boolean {
  const [a, b] = [parseHost(outer), parseHost(inner)];
  return a !== undefined && b !== undefined && containsHost(a, b);
}

/** The same secret for the same hosts in the same header, whichever rule says it. */
function isSameSecret(a: SecretGrant, b: SecretGrant): boolean {
  if (a.header?.name !== b.header?.name || a.header?.scheme !== b.header?.scheme) return false;
  return a.name === b.name && a.hosts.length === b.hosts.length && a.hosts.every((host) => b.hosts.includes(host));
}

function lowerLimits(a: Partial<ProgramLimits>, b: Partial<ProgramLimits>): Partial<ProgramLimits> {
  const limits: { -readonly [Name in keyof ProgramLimits]?: number } = {};
  for (const name of programLimitNames) {
    const lower = Math.min(a[name] ?? Infinity, b[name] ?? Infinity);
    if (lower !== Infinity) limits[name] = lower;
  }
  return limits;
}

function distinct<T>(values: readonly T[]): readonly T[] {
  return [...new Set(values)];
}
