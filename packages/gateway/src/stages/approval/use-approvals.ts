import type { Binding } from '../../approvals/bind-call.ts';
import type { ApprovalTask } from '../../call/approval.ts';
import type * as facts from '../../call/call.ts';
import type { Context } from '../../call/stage.ts';
import type { Effect } from '../../call/tool.ts';
import { basisOf, isAnswered } from './approval-parts.ts';
import type { ApprovalNeeds, ApprovalParts } from './approval-parts.ts';

const clockToleranceMs = 60_000;

/** Undefined when nobody has approved exactly this call, or what they approved has run. */
export async function useApproved(
  { session, approvalTaskId }: ApprovalNeeds,
  { binding }: Binding,
  effect: Effect,
  { store, limits }: ApprovalParts,
  context: Context,
): Promise<facts.Consented | undefined> {
  const task = await (approvalTaskId
    ? store.findApproval(approvalTaskId)
    : store.findApprovalByBinding(session.id, binding));
  if (task?.sessionId !== session.id || task.binding !== binding || task.status !== 'approved') return undefined;
  // A person who agreed an hour ago may have changed their mind. A decision in the future means that the clock was set
  // back.
  const ageMs = context.nowMs() - (task.decidedAtMs ?? 0);
  return ageMs >= -clockToleranceMs && ageMs <= limits().expireAfterMs ? consentOf(task, effect) : undefined;
}

function consentOf(task: ApprovalTask, effect: Effect): facts.Consented {
  const { id: taskId, binding, decidedBy = '', decidedByAgent, decidedAtMs = 0 } = task;
  const use = { kind: 'task', taskId, binding } as const;
  const how = decidedByAgent ? 'approved-by-agent' : 'approved';
  return { consent: { by: decidedBy, how, atMs: decidedAtMs, binding, ...basisOf(effect), use } };
}

/** Empty when no standing approval fits, or when the call names a task. */
export function useStanding(
  call: ApprovalNeeds,
  { binding, scopeSha256 }: Binding,
  { store }: ApprovalParts,
  context: Context,
): readonly facts.Consent[] {
  const { session, tool, rules, mode, approvalTaskId } = call;
  if (approvalTaskId) return [];
  return store
    .listStanding({ sessionId: session.id, nowMs: context.nowMs() })
    .filter(
      (each) =>
        each.tool === tool.definition.name &&
        each.rulesHash === rules.hash &&
        each.mode === mode &&
        isAnswered(call, each.askedBy ?? []) &&
        (each.scopeSha256 === undefined || each.scopeSha256 === scopeSha256),
    )
    .map(({ id: standingId, grantedBy: by, grantedAtMs: atMs }) => {
      const use = { kind: 'standing', standingId } as const;
      return { by, how: 'standing-approval', atMs, binding, use };
    });
}

/**
 * Several calls at once see the same approvals, and each approval is used as often as it was given. A call that names
 * an approval uses that one; any other call uses the next. Undefined when there is no approval.
 */
export function joinConsents(
  approved: facts.Consented | undefined,
  standing: readonly facts.Consent[],
): facts.Consented | undefined {
  const consents = [...(approved?.consent === undefined ? [] : [approved.consent]), ...standing];
  const consent = consents.reduceRight<facts.Consent | undefined>(
    (otherwise, each) => (otherwise === undefined ? each : { ...each, otherwise }),
    undefined,
  );
  return consent === undefined ? undefined : { consent };
}
