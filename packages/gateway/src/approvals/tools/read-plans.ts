import { PlanService } from '@sallyport/contract';
import { issuePlanToken } from '../plan-token.ts';
import type { Plan } from '../../call/approval.ts';
import type { Session } from '../../call/session.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import { limitProperty, planProperty, unknownPlan } from './approval-parts.ts';
import type { ApprovalToolParts } from './approval-parts.ts';
import { describePlan } from './describe-approval.ts';

export function listPlans({ store, hideHeld }: ApprovalToolParts) {
  return defineOperatorTool({
    name: 'plans.list',
    description: 'Lists plans: of all agents for an operator, its own for an agent.',
    mutates: false,
    audience: 'everyone',
    properties: { limit: limitProperty },
    answers: PlanService.method.listPlans,
    argumentsOf: ({ limit = 50 }) => ({ limit: Math.min(Number(limit), 200) }),
    run: async ({ limit }, { session }) => {
      const own = session.principal === 'operator' ? {} : { sessionId: session.id };
      const plans = await store.listPlans({ ...own, limit });
      // Effects are long, and one looks at them one plan at a time.
      return { plans: plans.map((plan) => describePlan(plan, { nowMs: Date.now(), forPerson: false, hideHeld })) };
    },
    summarize: (_args, { plans }) => `${plans.length} plans`,
  });
}

export function showPlan({ store, tokens, explainHold, hideHeld }: ApprovalToolParts) {
  return defineOperatorTool({
    name: 'plans.show',
    description: 'Shows a plan. The agent whose plan it is gets its confirm token once it is approved.',
    mutates: false,
    audience: 'everyone',
    properties: { plan_id: planProperty },
    required: ['plan_id'],
    answers: PlanService.method.getPlan,
    argumentsOf: ({ id }) => ({ plan_id: id }),
    run: async ({ plan_id: id }, { session }) => {
      const plan = findVisible(await store.findPlan(id), session);
      if (plan === undefined) throw unknownPlan(id);
      const forPerson = session.principal === 'operator';
      const confirmToken = (forPerson ? undefined : issuePlanToken(plan, tokens)) ?? '';
      const showing = { nowMs: Date.now(), forPerson, hideHeld, ...(forPerson ? { explainHold } : {}) };
      return { plan: describePlan(plan, showing), confirmToken };
    },
    summarize: ({ plan_id: id }) => `showed plan ${id}`,
  });
}

/** The plan of another agent looks like none. */
function findVisible(plan: Plan | undefined, { principal, id }: Session): Plan | undefined {
  return principal === 'operator' || plan?.sessionId === id ? plan : undefined;
}
