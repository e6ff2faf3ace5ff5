import type { AnyTool } from '../../call/tool.ts';
import type { ApprovalToolParts } from './approval-parts.ts';
import { issueToken, revokeToken, rotateKey } from './confirm-calls.ts';
import { approveApproval, denyApproval } from './decide-approvals.ts';
import { approvePlan, denyPlan } from './decide-plans.ts';
import { proposePlan } from './propose-plan.ts';
import { listApprovals, showApproval } from './read-approvals.ts';
import { listPlans, showPlan } from './read-plans.ts';
import { revealOfApproval, revealOfPlan } from './reveal-secrets.ts';
import { decideReview, listReviews, revealReview, showReview } from './review-approvals.ts';
import { listStanding, revokeStanding } from './standing-approvals.ts';

/** Decisions about calls, as governed calls of their own; and plans, which agents propose. */
export function approvalTools(parts: ApprovalToolParts): readonly AnyTool[] {
  return [
    listApprovals(parts),
    showApproval(parts),
    approveApproval(parts),
    denyApproval(parts),
    revealOfApproval(parts),
    listReviews(parts),
    showReview(parts),
    revealReview(parts),
    decideReview(parts),
    listStanding(parts),
    revokeStanding(parts),
    proposePlan(parts),
    listPlans(parts),
    showPlan(parts),
    approvePlan(parts),
    denyPlan(parts),
    revealOfPlan(parts),
    issueToken(parts),
    revokeToken(parts),
    rotateKey(parts),
  ];
}
