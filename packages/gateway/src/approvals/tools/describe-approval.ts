import type {
  Approval,
  InJson,
  MaskedSecret as MaskedMessage,
  Plan as PlanMessage,
  PlanStep as StepMessage,
  StandingApproval as StandingMessage,
} from '@sallyport/contract';
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
  /** Where a session works. Absent: it is not said. */
  readonly workspaceOf?: (sessionId: string) => string;
}

/** A task as people see it, without its effect. Text that came from outside is safe to show. */
export function describeTask(task: ApprovalTask, { hideHeld, explainHold, workspaceOf }: Showing): InJson<Approval> {
  return {
    id: task.id,
    status: task.status,
    agent: makeVisibleLine(task.agent),
    sessionId: task.sessionId,
    tool: task.tool,
    toolVersion: task.toolVersion,
    risk: task.risk,
    priority: priorityOf(task.risk),
    title: showTitle(hideHeld(task.title)),
    undoable: task.undoable,
    ruleId: task.ruleId,
    reason: makeVisible(hideHeld(task.reason)),
    approverRole: task.approverRole,
    assignedTo: makeVisibleLine(task.assignedTo ?? ''),
    createdBy: makeVisibleLine(task.agent),
    workspace: makeVisibleLine(workspaceOf?.(task.sessionId) ?? ''),
    approverAgents: task.approvers ?? [],
    wanted: task.wanted,
    createdAtMs: String(task.createdAtMs),
    expiresAtMs: String(task.expiresAtMs),
    hold: explainHold?.(task) ?? '',
    decidedBy: task.decidedBy ?? '',
    decidedByAgent: task.decidedByAgent ?? false,
    decidedAtMs: String(task.decidedAtMs ?? 0),
    note: makeVisible(hideHeld(task.note ?? '')),
    callId: task.callId,
    traceId: task.traceId,
    argumentsJson: '',
    effect: '',
    effectSha256: '',
    masked: [],
  };
}

/** The same with the effect, and the hash that a decision about it must name. */
export function describeWholeTask(task: ApprovalTask, showing: Showing): InJson<Approval> {
  const { hideHeld } = showing;
  return {
    ...describeTask(task, showing),
    argumentsJson: makeVisible(hideHeld(task.shownArguments ?? '')),
    effect: showEffect(hideHeld(task.effect)),
    effectSha256: task.effectSha256,
    masked: describeMasked(task.masked),
  };
}

/** Which secrets have a mark in the text, so that a reader can find or reveal them. */
function describeMasked(masked: readonly MaskedSecret[] = []): InJson<MaskedMessage>[] {
  return masked.map((secret) => ({
    number: secret.number,
    mark: makeVisibleLine(markOf(secret)),
    characters: secret.characters,
    name: makeVisibleLine(secret.name ?? ''),
    held: secret.isHeld ?? false,
    rest: secret.restSha256 !== undefined,
  }));
}

export function describeStanding(standing: StandingApproval): InJson<StandingMessage> {
  const { id, agent, sessionId, tool, scopeSha256, risk, mode, grantedBy, usesLeft } = standing;
  return {
    ...{
      id,
      agent: makeVisibleLine(agent),
      sessionId,
      tool,
      exactScope: scopeSha256 !== undefined,
      risk,
      mode,
      grantedBy,
    },
    grantedAtMs: String(standing.grantedAtMs),
    expiresAtMs: String(standing.expiresAtMs),
    ...(usesLeft === undefined ? {} : { usesLeft }),
  };
}

/** A plan. What a step would do is for the person who decides, so the agent that proposed it does not see it. */
export function describePlan(
  plan: Plan,
  { nowMs, forPerson, hideHeld, explainHold }: Showing & { readonly nowMs: number; readonly forPerson: boolean },
): InJson<PlanMessage> {
  const isOver = plan.status === 'pending' && plan.expiresAtMs <= nowMs;
  return {
    id: plan.id,
    status: isOver ? 'expired' : plan.status,
    agent: makeVisibleLine(plan.agent),
    sessionId: plan.sessionId,
    traceId: plan.traceId,
    summary: makeVisible(hideHeld(plan.summary)),
    steps: plan.steps.map((step) => describeStep(step, forPerson, hideHeld)),
    approvedSteps: plan.approvedSteps,
    started: plan.started,
    approverRole: plan.approverRole,
    createdAtMs: String(plan.createdAtMs),
    expiresAtMs: String(plan.expiresAtMs),
    hold: explainHold?.(plan) ?? '',
    decidedBy: plan.decidedBy ?? '',
    decidedAtMs: String(plan.decidedAtMs ?? 0),
    note: makeVisible(hideHeld(plan.note ?? '')),
  };
}

export const noStep: InJson<StepMessage> = {
  ...{ tool: '', argumentsJson: '', title: '', effect: '', risk: '', reason: '' },
  ...{ refusal: '', code: '', ruleId: '', masked: [], undoable: false },
};

function describeStep(step: PlanStep, forPerson: boolean, hideHeld: Showing['hideHeld']): InJson<StepMessage> {
  return {
    ...noStep,
    tool: step.tool,
    argumentsJson: makeVisible(hideHeld(step.shownArguments)),
    risk: step.risk,
    reason: makeVisible(hideHeld(step.reason)),
    ...(forPerson
      ? {
          title: showTitle(hideHeld(step.title)),
          effect: showEffect(hideHeld(step.effect)),
          masked: describeMasked(step.masked),
          undoable: step.undoable ?? false,
        }
      : {}),
  };
}
