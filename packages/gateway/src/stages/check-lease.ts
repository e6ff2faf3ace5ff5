import { printable } from '../text/printable.ts';
import { findOutside, leaseRefusal } from '../policy/judge/lease.ts';
import type { ArgumentsChecked, Leased, Opened, Resolved } from '../call/call.ts';
import { refuse } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import type { Lease } from '../call/session.ts';
import type { Resources } from '../call/tool.ts';
import type { Stage } from '../call/stage.ts';

/** A session can use only what its lease names. A lease narrows; it never allows what the rules do not. */
export const checkLease: Stage<Opened & Resolved & ArgumentsChecked, Leased> = {
  name: 'check-lease',
  run: ({ session: { lease }, tool, resources }, context) =>
    outsideLease(lease, tool.definition.name, resources, context.nowMs()) ?? { lease },
};

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
