import { PlanService, spellCount } from '@sallyport/contract';
import type { Plan } from '../../call/approval.ts';
import type { Session } from '../../call/session.ts';
import { ToolFailure } from '../../call/tool.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import {
  decidedBefore,
  noteProperty,
  planProperty,
  requireOffice,
  requireSeen,
  unknownPlan,
} from './approval-parts.ts';
import type { ApprovalToolParts } from './approval-parts.ts';
import { describePlan } from './describe-approval.ts';
import { mostSteps } from './propose-plan.ts';
import * as schema from '../../registry/schemas/schema.ts';

export function approvePlan(parts: ApprovalToolParts) {
  return defineOperatorTool({
    name: 'plans.approve',
    description: 'Approves a plan, or some of its steps. The agent makes those calls, in the order of the plan.',
    mutates: true,
    properties: {
      plan_id: planProperty,
      steps: schema.array(
        'Which steps, counted from 0. Absent: all of them.',
        { type: 'integer', minimum: 0, maximum: mostSteps - 1 },
        { minItems: 1, maxItems: mostSteps, uniqueItems: true },
      ),
      note: noteProperty,
    },
    required: ['plan_id'],
    answers: PlanService.method.decidePlan,
    serves: ({ approved_steps: steps }) => steps !== undefined,
    argumentsOf: ({ id, approved_steps: steps, note }) => ({ plan_id: id, steps, note }),
    run: async ({ plan_id: id, steps, note }, { session }) => {
      const plan = await findDecidable(parts, id, session);
      const all = plan.steps.map((_, index) => index);
      const unknown = steps?.find((index) => !all.includes(index));
      if (unknown !== undefined) {
        throw new ToolFailure(
          'INVALID_ARGUMENTS',
          `The plan has the steps 0 to ${all.length - 1}, but no step ${unknown}.`,
        );
      }
      const approvedSteps = steps === undefined ? all : steps.toSorted((a, b) => a - b);
      requireSeen(parts, session, plan, (step) => approvedSteps.includes(step));
      return decide(parts, plan, { approvedSteps, by: session.agent, ...(note === undefined ? {} : { note }) });
    },
    summarize: ({ plan_id: id }, { plan }) =>
      `approved ${spellCount(plan?.approvedSteps.length ?? 0, 'step')} of plan ${id}`,
  });
}

export function denyPlan(parts: ApprovalToolParts) {
  return defineOperatorTool({
    name: 'plans.deny',
    description: 'Denies a plan. A note tells the agent what to change.',
    mutates: true,
    properties: { plan_id: planProperty, note: noteProperty },
    required: ['plan_id'],
    answers: PlanService.method.decidePlan,
    serves: ({ approved_steps: steps }) => steps === undefined,
    argumentsOf: ({ id, note }) => ({ plan_id: id, note }),
    run: async ({ plan_id: id, note }, { session }) => {
      const plan = await findDecidable(parts, id, session);
      return decide(parts, plan, { approvedSteps: [], by: session.agent, ...(note === undefined ? {} : { note }) });
    },
    summarize: ({ plan_id: id }) => `denied plan ${id}`,
  });
}

async function findDecidable({ store, mayDecide }: ApprovalToolParts, id: string, person: Session): Promise<Plan> {
  const plan = await store.findPlan(id);
  if (plan === undefined) throw unknownPlan(id);
  requireOffice(mayDecide, person, plan);
  return plan;
}

/** The store lets the first decision win. */
async function decide(
  { store, plans, hideHeld }: ApprovalToolParts,
  { id: planId }: Plan,
  decision: { readonly approvedSteps: readonly number[]; readonly by: string; readonly note?: string },
) {
  const atMs = Date.now();
  const plan = await store.decidePlan({ planId, ...decision, atMs });
  if (plan === undefined) throw decidedBefore((await store.findPlan(planId)) ?? { status: 'expired' });
  plans.tell({ kind: 'decided', plan });
  return { plan: describePlan(plan, { nowMs: atMs, forPerson: false, hideHeld }) };
}
