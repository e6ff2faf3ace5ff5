import { create } from '@bufbuild/protobuf';
import {
  DecidePlanResponseSchema,
  GetPlanResponseSchema,
  ListPlansResponseSchema,
  parseStrictJson,
  PlanService,
  ProposePlanResponseSchema,
  WatchPlansResponseSchema,
} from '@sallyport/contract';
import type { Json, JsonObject, PlannedCall, Plan as PlanMessage } from '@sallyport/contract';
import type { PlanNews, PlanWatch } from './approval-watch.ts';
import type { Plan } from '../call/approval.ts';
import { doors } from '../call/call.ts';
import type { ApprovalIndex } from '../storage/stores.ts';
import { describePlan } from './tools/describe-approval.ts';
import type { Showing } from './tools/describe-approval.ts';
import { readPlan } from './service-messages.ts';
import { longestWaitMs } from '../call/submission.ts';
import { followNews } from '../doors/follow-news.ts';
import { objectsOf, textOf } from '../sessions/service-messages.ts';
import type { Peer } from '../doors/transport/peer.ts';
import { RpcError } from '../doors/transport/rpc-error.ts';
import { bindService } from '../doors/transport/service-binding.ts';
import type { ServiceBinding } from '../doors/transport/service-binding.ts';
import { identifyOperator, submitAsOperator } from '../doors/submit-as-operator.ts';
import type { OperatorParts } from '../doors/submit-as-operator.ts';
import { submitTool } from '../doors/submit-tool.ts';

export interface PlanServiceParts extends OperatorParts {
  readonly store: OperatorParts['store'] & Pick<ApprovalIndex, 'findPlan' | 'listPlans'>;
  readonly plans: PlanWatch;
  /** How people are shown what waits. */
  readonly showing: Showing;
}

/** More than wait at any time, in practice. */
const mostListed = 1000;

/** Plans in typed words: each method is the governed call of a tool. Agents propose, operators decide. */
export function planService(parts: PlanServiceParts): ServiceBinding {
  const { submit } = parts;
  return bindService(PlanService, doors, {
    proposePlan: async ({ summary, calls, traceId, waitMs }, peer) => {
      const trace = traceId || traceOf(peer);
      const args = { summary, calls: calls.map(readPlanned), ...(trace === '' ? {} : { trace_id: trace }) };
      const { output } = await submitTool(submit, 'plans.propose', args, undefined, peer);
      const latest = await awaitPlan(parts, output, waitMs, peer);
      return create(ProposePlanResponseSchema, answerOf(latest));
    },

    getPlan: async ({ id }, peer) => {
      const { output } = await submitTool(submit, 'plans.show', { plan_id: id }, undefined, peer);
      return create(GetPlanResponseSchema, answerOf(output));
    },

    listPlans: async ({ limit }, peer) => {
      const args = { limit: Math.min(limit || 50, 200) };
      const { output } = await submitTool(submit, 'plans.list', args, undefined, peer);
      return create(ListPlansResponseSchema, { plans: objectsOf(output['plans']).map(readPlan) });
    },

    decidePlan: async ({ id, approvedSteps, note }, peer) => {
      const said = note === '' ? {} : { note };
      const { output } =
        approvedSteps.length === 0
          ? await submitAsOperator(parts, 'plans.deny', { plan_id: id, ...said }, peer)
          : await submitAsOperator(parts, 'plans.approve', { plan_id: id, steps: approvedSteps, ...said }, peer);
      return create(DecidePlanResponseSchema, { plan: readPlan(output) });
    },

    watchPlans: async function* (_request, peer) {
      const { store, plans, showing } = parts;
      const news = followNews<PlanNews>({
        listen: (hear) => plans.listen(hear),
        idOf: ({ plan }) => plan.id,
        readPending: () => pendingPlans(store),
        check: () => identifyOperator(parts, peer),
        signal: peer.signal,
      });
      for await (const { kind, plan } of news) {
        yield create(WatchPlansResponseSchema, { event: kind, plan: presentPlan(plan, showing) });
      }
    },
  });
}

/** Oldest first. */
export function* pendingPlans(store: Pick<ApprovalIndex, 'listPlans'>): Generator<PlanNews> {
  const nowMs = Date.now();
  for (const plan of store.listPlans({ status: 'pending', limit: mostListed }).toReversed()) {
    if (plan.expiresAtMs > nowMs) yield { kind: 'pending', plan };
  }
}

/** A plan, whole, as the person who decides is shown it. */
export function presentPlan(plan: Plan, showing: Showing): PlanMessage {
  return readPlan(describePlan(plan, { ...showing, nowMs: Date.now(), forPerson: true }));
}

/** The plan after the decision, or as it was proposed when there is none in time. */
export async function awaitPlan(
  { plans, store, submit }: Omit<PlanServiceParts, 'showing'>,
  proposed: JsonObject,
  waitMs: number,
  peer: Peer,
): Promise<JsonObject> {
  const planId = textOf(proposed['plan_id']);
  if (planId === '' || waitMs === 0) return proposed;
  const { expiresAtMs = 0 } = store.findPlan(planId) ?? {};
  const timeoutMs = Math.max(0, Math.min(waitMs, longestWaitMs, expiresAtMs - Date.now()));
  const isOver = (): boolean => store.findPlan(planId)?.status !== 'pending';
  await plans.awaitEnd(planId, { timeoutMs, signal: peer.signal, isOver });
  return (await submitTool(submit, 'plans.show', { plan_id: planId }, undefined, peer)).output;
}

function answerOf(output: JsonObject) {
  return { plan: readPlan(output), confirmToken: textOf(output['confirm_token']) };
}

function readPlanned({ tool, inputJson, reason }: PlannedCall): JsonObject {
  let args: Json;
  try {
    args = inputJson === '' ? {} : parseStrictJson(inputJson);
  } catch {
    throw new RpcError('invalid_argument', `The input of ${JSON.stringify(tool)} is not acceptable JSON.`);
  }
  return { tool, arguments: args, ...(reason === '' ? {} : { reason }) };
}

function traceOf(peer: Peer): string {
  return /^[0-9a-f]{2}-([0-9a-f]{32})-/.exec(peer.headers('traceparent') ?? '')?.[1] ?? '';
}
