import type { JsonObject } from '@sallyport/contract';
import { priorityOf } from '../priority.ts';
import type { ExplainHold } from '../explain-hold.ts';
import { markOf } from '../mask-secrets.ts';
import { showEffect, showTitle } from '../show-effect.ts';
import { makeVisible, makeVisibleLine } from '@sallyport/contract';
import type { ApprovalTask, MaskedSecret, Plan, PlanStep, StandingApproval } from '../../call/approval.ts';

/** With what a stored text is shown. */
export interface Showing {
  /** Takes out the secrets that the gate holds by now: it may not have held them when the text was stored. */
  readonly hideHeld: (text: string) => string;
  /** Absent: it is not asked whether it can still be approved. */
  readonly explainHold?: ExplainHold | undefined;
}

const isoTime = (ms: number): string => new Date(ms).toISOString();

/** A task as people see it. Text that came from outside is safe to show. */
export function describeTask(task: ApprovalTask, { hideHeld, explainHold }: Showing): JsonObject {
  return {
    task_id: task.id,
    status: task.status,
    agent: makeVisibleLine(task.agent),
    session_id: task.sessionId,
    tool: task.tool,
    tool_version: task.toolVersion,
    risk: task.risk,
    priority: priorityOf(task.risk),
    title: showTitle(hideHeld(task.title)),
    undoable: task.undoable,
    rule_id: task.ruleId,
    reason: makeVisible(hideHeld(task.reason)),
    approver_role: task.approverRole,
    ...(task.assignedTo === undefined ? {} : { assigned_to: makeVisibleLine(task.assignedTo) }),
    created_by: makeVisibleLine(task.agent),
    ...(task.approvers === undefined ? {} : { approver_agents: [...task.approvers] }),
    wanted: task.wanted,
    created_at: isoTime(task.createdAtMs),
    expires_at: isoTime(task.expiresAtMs),
    ...describeHold(explainHold?.(task)),
    ...describeDecision(task, hideHeld),
    call_id: task.callId,
    trace_id: task.traceId,
  };
}

/** The same with the effect, and the hash that a decision about it must name. */
export function describeWholeTask(task: ApprovalTask, showing: Showing): JsonObject {
  const { hideHeld } = showing;
  return {
    ...describeTask(task, showing),
    ...(task.shownArguments === undefined ? {} : { arguments_json: makeVisible(hideHeld(task.shownArguments)) }),
    effect: showEffect(hideHeld(task.effect)),
    effect_sha256: task.effectSha256,
    ...describeMasked(task.masked),
  };
}

/** Which secrets have a mark in the text, for whoever wants to find or reveal them. */
function describeMasked(masked: readonly MaskedSecret[] = []): JsonObject {
  if (masked.length === 0) return {};
  const described = masked.map((secret) => ({
    number: secret.number,
    mark: makeVisibleLine(markOf(secret)),
    characters: secret.characters,
    ...(secret.name === undefined ? {} : { name: makeVisibleLine(secret.name) }),
    ...(secret.isHeld ? { held: true } : {}),
    ...(secret.restSha256 === undefined ? {} : { rest: true }),
  }));
  return { masked: described };
}

export function describeStanding(standing: StandingApproval): JsonObject {
  return {
    standing_id: standing.id,
    agent: makeVisibleLine(standing.agent),
    session_id: standing.sessionId,
    tool: standing.tool,
    exact_scope: standing.scopeSha256 !== undefined,
    risk: standing.risk,
    mode: standing.mode,
    granted_by: standing.grantedBy,
    granted_at: isoTime(standing.grantedAtMs),
    expires_at: isoTime(standing.expiresAtMs),
    ...(standing.usesLeft === undefined ? {} : { uses_left: standing.usesLeft }),
  };
}

/** A plan. What a step would do is for the person who decides, so the agent that proposed it does not see it. */
export function describePlan(
  plan: Plan,
  { nowMs, forPerson, hideHeld, explainHold }: Showing & { readonly nowMs: number; readonly forPerson: boolean },
): JsonObject {
  const isOver = plan.status === 'pending' && plan.expiresAtMs <= nowMs;
  return {
    plan_id: plan.id,
    status: isOver ? 'expired' : plan.status,
    agent: makeVisibleLine(plan.agent),
    session_id: plan.sessionId,
    trace_id: plan.traceId,
    summary: makeVisible(hideHeld(plan.summary)),
    steps: plan.steps.map((step) => describeStep(step, forPerson, hideHeld)),
    approved_steps: [...plan.approvedSteps],
    started: plan.started,
    approver_role: plan.approverRole,
    created_at: isoTime(plan.createdAtMs),
    expires_at: isoTime(plan.expiresAtMs),
    ...describeHold(explainHold?.(plan)),
    ...describeDecision(plan, hideHeld),
  };
}

function describeStep(step: PlanStep, forPerson: boolean, hideHeld: Showing['hideHeld']): JsonObject {
  return {
    tool: step.tool,
    arguments_json: makeVisible(hideHeld(step.shownArguments)),
    risk: step.risk,
    reason: makeVisible(hideHeld(step.reason)),
    ...(forPerson
      ? {
          title: showTitle(hideHeld(step.title)),
          effect: showEffect(hideHeld(step.effect)),
          ...describeMasked(step.masked),
          undoable: step.undoable ?? false,
        }
      : {}),
  };
}

/** Why nobody can approve it. */
function describeHold(hold: string | undefined): JsonObject {
  return hold === undefined ? {} : { hold };
}

function describeDecision(
  { decidedBy, decidedByAgent, decidedAtMs, note }: Partial<ApprovalTask>,
  hideHeld: Showing['hideHeld'],
): JsonObject {
  return {
    ...(decidedBy === undefined ? {} : { decided_by: decidedBy }),
    ...(decidedByAgent === undefined ? {} : { decided_by_agent: true }),
    ...(decidedAtMs === undefined ? {} : { decided_at: isoTime(decidedAtMs) }),
    ...(note === undefined ? {} : { note: makeVisible(hideHeld(note)) }),
  };
}
