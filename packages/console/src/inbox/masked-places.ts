import type { InboxItem } from '../live/inbox.ts';
import type { MaskedPlace } from './use-revealed.ts';

/** Everything that has a mark in what somebody decides about. */
export function maskedPlaces(item: InboxItem): readonly MaskedPlace[] {
  if (item.kind === 'approval') {
    const target = { tool: 'approvals.reveal', input: { task_id: item.id } } as const;
    return item.approval.masked.map((secret) => ({ secret, target }));
  }
  return item.plan.steps.flatMap(({ masked }, step) => {
    const target = { tool: 'plans.reveal', input: { plan_id: item.id, step } } as const;
    return masked.map((secret) => ({ secret, target, step }));
  });
}

/** Behind these could be anything, so the gate takes no approval before they were shown. */
export function mustBeShown({ secret: { held } }: MaskedPlace): boolean {
  return !held;
}
