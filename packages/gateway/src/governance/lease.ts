import { refuse } from '../model/refusal.ts';
import type { Refusal } from '../model/refusal.ts';
import type { Lease } from '../model/session.ts';
import type { Resources } from '../model/tool.ts';
import { isWithin } from './canonical-path.ts';
import { matchesName } from './name-pattern.ts';

/** Why a lease can no longer be used. */
export function leaseRefusal(lease: Lease, nowMs: number): Refusal | undefined {
  const ended = lease.endedAtMs !== undefined;
  if (!ended && (lease.expiresAtMs === undefined || lease.expiresAtMs > nowMs)) return undefined;
  return refuse('OUTSIDE_LEASE', 'lease', `The lease of this session has ${ended ? 'ended' : 'expired'}.`, {
    remedy: 'Ask the operator for a new lease.',
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
    firstUnnamed(lease.hosts, hosts) ??
    firstUnnamed(lease.commands, commands) ??
    firstUnnamed(lease.gitOperations, present(gitOperation)) ??
    firstUnnamed(lease.providers, present(provider)) ??
    firstUnnamed(lease.models, present(model))
  );
}

function firstUnnamed(patterns: readonly string[] | undefined, names: readonly string[]): string | undefined {
  if (patterns === undefined) return undefined;
  return names.find((name) => !patterns.some((pattern) => matchesName(pattern, name)));
}

function present(value: string | undefined): readonly string[] {
  return value === undefined ? [] : [value];
}
