import { outsideLease } from '../policy/judge/lease.ts';
import type { ArgumentsChecked, Leased, Opened, Resolved } from '../call/call.ts';
import type { Stage } from '../call/stage.ts';

/** A session can use only what its lease names. A lease narrows; it never allows what the rules do not. */
export const checkLease: Stage<Opened & Resolved & ArgumentsChecked, Leased> = {
  name: 'check-lease',
  run: (call, context) => {
    const { lease } = call.session;
    call.lease = lease;
    return outsideLease(lease, call.tool.definition.name, call.resources, context.nowMs());
  },
};
