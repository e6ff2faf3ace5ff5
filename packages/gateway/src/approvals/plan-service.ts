import { parseStrictJson, PlanService, ProposePlanResponseSchema, WatchPlansResponseSchema } from '@sallyport/contract';
import type { InJson, Json, PlannedCall, ProposePlanResponse } from '@sallyport/contract';
import type { PlanNews, PlanWatch } from './approval-watch.ts';
import { doors } from '../call/call.ts';
import type { ApprovalRepository } from '../storage/stores.ts';
import { describePlan } from './tools/describe-approval.ts';
import type { Showing } from './tools/describe-approval.ts';
import { longestWaitMs } from '../call/submission.ts';
import { followNews } from '../doors/follow-news.ts';
import type { Peer } from '../doors/transport/peer.ts';
import { RpcError } from '../doors/transport/rpc-error.ts';
import type { ServiceBinding } from '../doors/transport/service-binding.ts';
import { identifyOperator } from '../doors/submit-as-operator.ts';
import { bindTools, messageOf } from '../doors/bind-tools.ts';
import type { ToolBindingParts } from '../doors/bind-tools.ts';
import { submitTool } from '../doors/submit-tool.ts';

export interface PlanServiceParts extends ToolBindingParts {
  readonly store: ToolBindingParts['store'] & Pick<ApprovalRepository, 'findPlan' | 'listPlans'>;
  readonly plans: PlanWatch;
  /** How people are shown what waits. */
  readonly showing: Showing;
}

/** More than wait at any time, in practice. */
const mostListed = 1000;

/** Plans in typed words: each method is the governed call of a tool. Agents propose, operators decide. */
export function planService(parts: PlanServiceParts): ServiceBinding {
  return bindTools(PlanService, doors, parts, {
    proposePlan: async ({ summary, calls, traceId, waitMs }, peer) => {
      const trace = traceId || traceOf(peer);
      const args = { summary, calls: calls.map(readPlanned), ...(trace === '' ? {} : { trace_id: trace }) };
      const { output } = await submitTool(parts.submit, 'plans.propose', args, undefined, peer);
      const latest = await awaitPlan(parts, output as unknown as ProposedPlan, waitMs, peer);
      return messageOf(ProposePlanResponseSchema, latest);
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
        const shown = describePlan(plan, { ...showing, nowMs: Date.now(), forPerson: true });
        yield messageOf(WatchPlansResponseSchema, { event: kind, plan: shown });
      }
    },
  });
}

/** Oldest first. */
export async function* pendingPlans(store: Pick<ApprovalRepository, 'listPlans'>): AsyncGenerator<PlanNews> {
  const nowMs = Date.now();
  for (const plan of (await store.listPlans({ status: 'pending', limit: mostListed })).toReversed()) {
    if (plan.expiresAtMs > nowMs) yield { kind: 'pending', plan };
  }
}

/** What plans.propose answers. */
export type ProposedPlan = InJson<ProposePlanResponse>;

/** The plan after the decision, or as it was proposed if nobody decides in time. */
export async function awaitPlan(
  { plans, store, submit }: Pick<PlanServiceParts, 'plans' | 'store' | 'submit'>,
  proposed: ProposedPlan,
  waitMs: number,
  peer: Peer,
): Promise<ProposedPlan> {
  const { id: planId = '' } = proposed.plan ?? {};
  if (planId === '' || waitMs === 0) return proposed;
  const { expiresAtMs = 0 } = (await store.findPlan(planId)) ?? {};
  const timeoutMs = Math.max(0, Math.min(waitMs, longestWaitMs, expiresAtMs - Date.now()));
  const isOver = async (): Promise<boolean> => (await store.findPlan(planId))?.status !== 'pending';
  await plans.awaitEnd(planId, { timeoutMs, signal: peer.signal, isOver });
  const { output } = await submitTool(submit, 'plans.show', { plan_id: planId }, undefined, peer);
  return output as unknown as ProposedPlan;
}

function readPlanned({ tool, inputJson, reason }: PlannedCall) {
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
