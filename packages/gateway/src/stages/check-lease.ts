import { outsideLease } from '../policy/judge/lease.ts';
import type { ArgumentsChecked, Leased, Opened, Resolved } from '../call/call.ts';
import type { Stage } from '../call/stage.ts';

/** A session can use only what its lease names. A lease narrows; it never allows what the rules do not. */
export const checkLease: Stage<Opened & Resolved & ArgumentsChecked, Leased> = {
  name: 'check-lease',
  run: ({ session: { lease }, tool, resources }, context) =>
    outsideLease(lease, tool.definition.name, resources, context.nowMs()) ?? { lease },
};
