import { create } from '@bufbuild/protobuf';
import {
  ApprovalService,
  DecideApprovalResponseSchema,
  GetApprovalResponseSchema,
  ListApprovalsResponseSchema,
  ListStandingApprovalsResponseSchema,
  RevokeStandingApprovalResponseSchema,
  WatchApprovalsResponseSchema,
} from '@sallyport/contract';
import type { DecideApprovalRequest, JsonObject, WatchApprovalsResponse } from '@sallyport/contract';
import type { ApprovalNews, ApprovalWatch, PlanNews, PlanWatch } from './approval-watch.ts';
import type { ApprovalIndex } from '../storage/stores.ts';
import { describeWholeTask } from './tools/describe-approval.ts';
import type { Showing } from './tools/describe-approval.ts';
import { readApproval, readStanding } from './service-messages.ts';
import { followNews } from '../doors/follow-news.ts';
import { objectsOf, textOf } from '../sessions/service-messages.ts';
import { pendingPlans, presentPlan } from './plan-service.ts';
import { bindService } from '../doors/transport/service-binding.ts';
import type { ServiceBinding } from '../doors/transport/service-binding.ts';
import { identifyOperator, submitAsOperator } from '../doors/submit-as-operator.ts';
import type { OperatorParts } from '../doors/submit-as-operator.ts';

export interface ApprovalServiceParts extends OperatorParts {
  readonly store: OperatorParts['store'] & Pick<ApprovalIndex, 'listApprovals' | 'listPlans'>;
  readonly watch: ApprovalWatch;
  readonly plans: PlanWatch;
  /** How people are shown what waits. */
  readonly showing: Showing;
}

/** All that can wait, in practice. */
const mostPending = 20_000;

/** Where people decide, in typed words: each method is the governed call of a tool. For operators, at any door of theirs. */
export function approvalService(parts: ApprovalServiceParts): ServiceBinding {
  return bindService(ApprovalService, ['operator-socket', 'tcp'], {
    listApprovals: async ({ status, limit }, peer) => {
      const args = { status: status || 'all', limit: Math.min(limit || 50, 200) };
      const { output } = await submitAsOperator(parts, 'approvals.list', args, peer);
      const approvals = objectsOf(output['approvals']).map(readApproval);
      return create(ListApprovalsResponseSchema, { approvals, more: output['more'] === true });
    },

    getApproval: async ({ id }, peer) => {
      const { output } = await submitAsOperator(parts, 'approvals.show', { task_id: id }, peer);
      return create(GetApprovalResponseSchema, { approval: readApproval(output) });
    },

    decideApproval: async (request, peer) => {
      const name = request.approved ? 'approvals.approve' : 'approvals.deny';
      const { output } = await submitAsOperator(parts, name, decisionArguments(request), peer);
      const standingId = textOf(output['standing_id']);
      return create(DecideApprovalResponseSchema, { approval: readApproval(output), standingId });
    },

    watchApprovals: async function* ({ withPlans }, peer) {
      const { store, watch, plans, showing } = parts;
      const news = followNews<ApprovalNews | PlanNews>({
        listen: (hear) => {
          const stops = [watch.listen(hear), ...(withPlans ? [plans.listen(hear)] : [])];
          return () => stops.forEach((stop) => stop());
        },
        idOf: (each) => ('task' in each ? each.task.id : each.plan.id),
        readPending: () => [...pendingApprovals(store), ...(withPlans ? pendingPlans(store) : [])],
        check: () => identifyOperator(parts, peer),
        signal: peer.signal,
      });
      for await (const each of news) yield 'task' in each ? tell(each, showing) : tellOfPlan(each, showing);
    },

    listStandingApprovals: async (_request, peer) => {
      const { output } = await submitAsOperator(parts, 'approvals.standing_list', {}, peer);
      const standing = objectsOf(output['standing']).map(readStanding);
      return create(ListStandingApprovalsResponseSchema, { standing });
    },

    revokeStandingApproval: async ({ id }, peer) => {
      const { output } = await submitAsOperator(parts, 'approvals.standing_revoke', { standing_id: id }, peer);
      return create(RevokeStandingApprovalResponseSchema, { revoked: output['revoked'] === true });
    },
  });
}

function* pendingApprovals(store: ApprovalServiceParts['store']): Generator<ApprovalNews> {
  const tasks = store.listApprovals({ status: 'pending', limit: mostPending });
  for (const task of tasks.toReversed()) yield { kind: 'pending', task };
}

function tell({ kind, task }: ApprovalNews, showing: Showing): WatchApprovalsResponse {
  const approval = readApproval(describeWholeTask(task, showing));
  return create(WatchApprovalsResponseSchema, { event: kind, approval });
}

function tellOfPlan({ kind, plan }: PlanNews, showing: Showing): WatchApprovalsResponse {
  return create(WatchApprovalsResponseSchema, { event: kind, plan: presentPlan(plan, showing) });
}

function decisionArguments({ id, approved, effectSha256, note, standing, runs }: DecideApprovalRequest): JsonObject {
  const given = {
    task_id: id,
    ...(effectSha256 === '' ? {} : { effect_sha256: effectSha256 }),
    ...(note === '' ? {} : { note }),
  };
  if (!approved) return given;
  const seen = { ...given, ...(runs === 0 ? {} : { runs }) };
  if (standing === undefined) return seen;
  const { forSession, minutes, uses } = standing;
  return {
    ...seen,
    standing: {
      ...(forSession ? { for_session: true } : {}),
      ...(minutes === 0 ? {} : { minutes }),
      ...(uses === 0 ? {} : { uses }),
    },
  };
}
