import { create } from '@bufbuild/protobuf';
import { ApprovalSchema, PlanSchema, StandingApprovalSchema } from '@sallyport/contract';
import type { Approval, JsonObject, Plan, StandingApproval } from '@sallyport/contract';
import { objectsOf, textOf, textsOf, timeOf } from '../sessions/service-messages.ts';

/** What the tools of approvals say, as messages. */
export function readApproval(described: JsonObject): Approval {
  return create(ApprovalSchema, {
    id: textOf(described['task_id']),
    status: textOf(described['status']),
    agent: textOf(described['agent']),
    sessionId: textOf(described['session_id']),
    tool: textOf(described['tool']),
    toolVersion: textOf(described['tool_version']),
    risk: textOf(described['risk']),
    title: textOf(described['title']),
    effect: textOf(described['effect']),
    effectSha256: textOf(described['effect_sha256']),
    undoable: described['undoable'] === true,
    ruleId: textOf(described['rule_id']),
    reason: textOf(described['reason']),
    approverRole: textOf(described['approver_role']),
    createdAtMs: timeOf(described['created_at']) ?? 0n,
    expiresAtMs: timeOf(described['expires_at']) ?? 0n,
    wanted: numberOf(described['wanted']),
    decidedBy: textOf(described['decided_by']),
    decidedAtMs: timeOf(described['decided_at']) ?? 0n,
    note: textOf(described['note']),
    callId: textOf(described['call_id']),
    traceId: textOf(described['trace_id']),
    masked: objectsOf(described['masked']).map(readMasked),
    argumentsJson: textOf(described['arguments_json']),
    priority: textOf(described['priority']),
    approverAgents: textsOf(described['approver_agents']),
    decidedByAgent: described['decided_by_agent'] === true,
    hold: textOf(described['hold']),
    assignedTo: textOf(described['assigned_to']),
    createdBy: textOf(described['created_by']),
  });
}

export function readStanding(described: JsonObject): StandingApproval {
  const usesLeft = described['uses_left'];
  return create(StandingApprovalSchema, {
    id: textOf(described['standing_id']),
    agent: textOf(described['agent']),
    sessionId: textOf(described['session_id']),
    tool: textOf(described['tool']),
    exactScope: described['exact_scope'] === true,
    grantedBy: textOf(described['granted_by']),
    grantedAtMs: timeOf(described['granted_at']) ?? 0n,
    expiresAtMs: timeOf(described['expires_at']) ?? 0n,
    ...(typeof usesLeft === 'number' ? { usesLeft } : {}),
  });
}

export function readPlan(described: JsonObject): Plan {
  return create(PlanSchema, {
    id: textOf(described['plan_id']),
    status: textOf(described['status']),
    agent: textOf(described['agent']),
    sessionId: textOf(described['session_id']),
    traceId: textOf(described['trace_id']),
    summary: textOf(described['summary']),
    steps: objectsOf(described['steps']).map((step) => ({
      tool: textOf(step['tool']),
      argumentsJson: textOf(step['arguments_json']),
      title: textOf(step['title']),
      effect: textOf(step['effect']),
      risk: textOf(step['risk']),
      reason: textOf(step['reason']),
      refusal: textOf(step['refusal']),
      masked: objectsOf(step['masked']).map(readMasked),
      undoable: step['undoable'] === true,
    })),
    approvedSteps: (described['approved_steps'] ?? []) as number[],
    started: numberOf(described['started']),
    createdAtMs: timeOf(described['created_at']) ?? 0n,
    expiresAtMs: timeOf(described['expires_at']) ?? 0n,
    decidedBy: textOf(described['decided_by']),
    note: textOf(described['note']),
    hold: textOf(described['hold']),
  });
}

function readMasked(described: JsonObject) {
  return {
    number: numberOf(described['number']),
    mark: textOf(described['mark']),
    characters: numberOf(described['characters']),
    name: textOf(described['name']),
    held: described['held'] === true,
    rest: described['rest'] === true,
  };
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
