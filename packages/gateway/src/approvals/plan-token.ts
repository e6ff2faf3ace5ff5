import type { Plan } from '../call/approval.ts';
import type { ConfirmTokens } from './confirm-tokens.ts';

/** However quickly one step follows the other. */
const longestPlanMs = 8 * 3_600_000;

/**
 * The token with which the agent makes the approved calls. The same one however often it is asked for: it counts from
 * the decision, so asking again does not make it last longer. Undefined: nothing is approved.
 */
export function issuePlanToken(plan: Plan, tokens: Pick<ConfirmTokens, 'issue'>): string | undefined {
  const { id, sessionId, traceId, rulesHash, mode, status, decidedAtMs, decidedBy } = plan;
  if (status !== 'approved' || decidedAtMs === undefined || decidedBy === undefined) return undefined;
  const steps = plan.approvedSteps.flatMap((index) => plan.steps[index] ?? []);
  const { token } = tokens.issue({
    id,
    sessionId,
    traceId,
    calls: steps.map((step) => step.callSha256),
    tools: [...new Set(steps.map((step) => step.tool))],
    rulesHash,
    mode,
    issuedBy: decidedBy,
    issuedAtMs: decidedAtMs,
    expiresAtMs: decidedAtMs + longestPlanMs,
    reusable: false,
    planId: id,
  });
  return token;
}
