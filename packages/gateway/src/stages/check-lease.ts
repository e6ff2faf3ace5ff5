import { printable } from '../governance/canonical-path.ts';
import { findOutside, leaseRefusal } from '../governance/lease.ts';
import type { ArgumentsChecked, Leased, Opened, Resolved } from '../model/call.ts';
import { refuse } from '../model/refusal.ts';
import type { Stage } from '../pipeline/stage.ts';

/** A session can use only what its lease names. A lease narrows; it never allows what the rules do not. */
export const checkLease: Stage<Opened & Resolved & ArgumentsChecked, Leased> = {
  name: 'check-lease',
  run: ({ session: { lease }, tool, resources }, context) => {
    const ended = leaseRefusal(lease, context.nowMs());
    if (ended !== undefined) return ended;
    const outside = findOutside(lease, tool.definition.name, resources);
    if (outside === undefined) return { lease };
    const what = printable(outside);
    return refuse('OUTSIDE_LEASE', 'lease', `The lease of this session does not include ${what}.`, {
      remedy: `Ask the operator for a session whose lease includes ${what}.`,
    });
  },
};
