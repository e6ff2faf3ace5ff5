import type { JsonObject } from '@sallyport/contract';
import { issuePlanToken } from '../plan-token.ts';
import type { Plan } from '../../call/approval.ts';
import type { Session } from '../../call/session.ts';
import type { Tool } from '../../call/tool.ts';
import { unknownPlan } from './approval-parts.ts';
import type { ApprovalToolParts } from './approval-parts.ts';
import { defineApprovalTool, idOf, limitProperty } from './define-approval-tool.ts';
import { describePlan } from './describe-approval.ts';

export function listPlans({ store, hideHeld }: ApprovalToolParts): Tool<{ readonly limit: number }> {
  return defineApprovalTool({
    name: 'plans.list',
    description: 'Lists plans: of all agents for an operator, its own for an agent.',
    mutates: false,
    audience: 'everyone',
    properties: { limit: limitProperty },
    output: { required: ['plans'], properties: { plans: { type: 'array', items: { type: 'object' } } } },
    run: ({ limit }, { session }) => {
      const own = session.principal === 'operator' ? {} : { sessionId: session.id };
      const plans = store.listPlans({ ...own, limit });
      // Effects are long, and one looks at them one plan at a time.
      return Promise.resolve({
        plans: plans.map((plan) => describePlan(plan, { nowMs: Date.now(), forPerson: false, hideHeld })),
      });
    },
    summarize: (_args, { plans }) => `${(plans as readonly JsonObject[]).length} plans`,
  });
}

export function showPlan({
  store,
  tokens,
  explainHold,
  hideHeld,
}: ApprovalToolParts): Tool<{ readonly plan_id: string }> {
  return defineApprovalTool({
    name: 'plans.show',
    description: 'Shows a plan. The agent whose plan it is gets its confirm token once it is approved.',
    mutates: false,
    audience: 'everyone',
    properties: { plan_id: idOf('As plans.propose returned it.') },
    required: ['plan_id'],
    output: {
      required: ['plan_id', 'status', 'steps'],
      properties: {
        plan_id: { type: 'string' },
        status: { type: 'string' },
        steps: { type: 'array', items: { type: 'object' } },
        confirm_token: { type: 'string' },
      },
    },
    run: ({ plan_id: id }, { session }) => {
      const plan = findVisible(store.findPlan(id), session);
      if (plan === undefined) throw unknownPlan(id);
      const forPerson = session.principal === 'operator';
      const token = forPerson ? undefined : issuePlanToken(plan, tokens);
      return Promise.resolve({
        ...describePlan(plan, { nowMs: Date.now(), forPerson, hideHeld, ...(forPerson ? { explainHold } : {}) }),
        ...(token === undefined ? {} : { confirm_token: token }),
      });
    },
    summarize: ({ plan_id: id }) => `showed plan ${id}`,
  });
}

/** The plan of another agent looks like none. */
function findVisible(plan: Plan | undefined, { principal, id }: Session): Plan | undefined {
  return principal === 'operator' || plan?.sessionId === id ? plan : undefined;
}
