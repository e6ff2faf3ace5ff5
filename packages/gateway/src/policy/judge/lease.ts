import { refuse } from '../../call/refusal.ts';
import type { Refusal } from '../../call/refusal.ts';
import type { Lease } from '../../call/session.ts';
import type { Resources } from '../../call/tool.ts';
import { printable } from '../../text/printable.ts';
import { isWithin } from '@sallyport/sandbox';
import { parseCommand } from '../patterns/command-pattern.ts';
import { parseHost } from '../patterns/host-pattern.ts';
import { matchesName } from '../patterns/name-pattern.ts';

/** Why a lease can no longer be used. */
export function leaseRefusal(lease: Lease, nowMs: number): Refusal | undefined {
  const ended = lease.endedAtMs !== undefined;
  if (!ended && (lease.expiresAtMs === undefined || lease.expiresAtMs > nowMs)) return undefined;
  return refuse('OUTSIDE_LEASE', 'lease', `The lease of this session has ${ended ? 'ended' : 'expired'}.`, askForLease);
}

/** What helps where a lease is over. */
export const askForLease = {
  remedy: 'Ask the operator for a new lease.',
  forOperators: '`sallyport lease grant` gives the session a new one.',
} as const;

/** Why the lease does not cover a use of the tool now. */
export function outsideLease(lease: Lease, tool: string, resources: Resources, nowMs: number): Refusal | undefined {
  const ended = leaseRefusal(lease, nowMs);
  if (ended !== undefined) return ended;
  const outside = findOutside(lease, tool, resources);
  if (outside === undefined) return undefined;
  const what = printable(outside);
  return refuse('OUTSIDE_LEASE', 'lease', `The lease of this session does not include ${what}.`, {
    remedy: 'Ask the operator for a lease that includes it.',
    forOperators: `\`sallyport lease grant\` gives the session a lease that includes ${what}.`,
  });
}

/** Whether the lease covers a path. */
export function coversPath(lease: Lease, path: string): boolean {
  return lease.paths === undefined || lease.paths.some((root) => isWithin(root, path));
}

/** The first thing of a call that the lease does not name. */
export function findOutside(lease: Lease, tool: string, resources: Resources): string | undefined {
  if (!lease.tools.some((pattern) => matchesName(pattern, tool))) return tool;
  const path = resources.paths.find((claim) => !coversPath(lease, claim.path));
  if (path !== undefined) return path.path;
  const { hosts = [], commands = [], gitOperation, provider, model } = resources;
  return (
    firstUnnamed(lease.hosts, hosts, hostName) ??
    firstUnnamed(lease.commands, commands, programOf) ??
    firstUnnamed(lease.gitOperations, present(gitOperation)) ??
    firstUnnamed(lease.providers, present(provider)) ??
    firstUnnamed(lease.models, present(model))
  );
}

function firstUnnamed(
  patterns: readonly string[] | undefined,
  things: readonly string[],
  nameOf: (thing: string) => string | undefined = (thing) => thing,
): string | undefined {
  if (patterns === undefined) return undefined;
  return things.find((thing) => {
    const name = nameOf(thing);
    return name === undefined || !patterns.some((pattern) => matchesName(pattern, name));
  });
}

/** Undefined: not the name of a host, so that no lease covers it. */
function hostName(text: string): string | undefined {
  const host = parseHost(text);
  return host?.below === false ? host.name : undefined;
}

function programOf(command: string): string | undefined {
  return parseCommand(command)?.words[0];
}

function present(value: string | undefined): readonly string[] {
  return value === undefined ? [] : [value];
}
