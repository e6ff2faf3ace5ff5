import type { Leased, Opened, Resolved } from '../model/call.ts';
import { refuse } from '../model/refusal.ts';
import type { Stage } from '../pipeline/stage.ts';
import { matchesName } from '../governance/name-pattern.ts';

/** A session can use only what its lease names. A lease narrows; it never allows what the rules do not. */
export const checkLease: Stage<Opened & Resolved, Leased> = {
  name: 'check-lease',
  run: ({ session, tool }) => {
    const { name } = tool.definition;
    if (session.lease.tools.some((pattern) => matchesName(pattern, name))) return { leaseChecked: true };
    return refuse('OUTSIDE_LEASE', 'lease', `The lease of this session does not include ${name}.`, {
      remedy: `Ask the operator for a session whose lease includes ${name}.`,
    });
  },
};
