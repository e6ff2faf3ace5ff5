import {
  DecideApprovalResponseSchema,
  GetApprovalResponseSchema,
  ListApprovalsResponseSchema,
  RevealedSecretsSchema,
} from '@sallyport/contract';
import { mustBeSeen } from '../explain-hold.ts';
import type { ApprovalTask } from '../../call/approval.ts';
import { modesOutsideLockdown } from '../../call/session.ts';
import type { Session } from '../../call/session.ts';
import { ToolFailure } from '../../call/tool.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import {
  limitProperty,
  noteProperty,
  requireOffice,
  requireSeen,
  taskProperty,
  unknownTask,
} from './approval-parts.ts';
import type { ApprovalToolParts } from './approval-parts.ts';
import { decideTask, effectProperty } from './decide-approvals.ts';
import { describeTask, describeWholeTask } from './describe-approval.ts';
import { nameAll, reveal, revealProperties } from './reveal-secrets.ts';

const decisions = ['approve', 'deny', 'request_changes'] as const;

/** For agents that the rules name as approvers: they see the calls that they may decide about, and no others. */
const forAgents = { audience: 'everyone', allowedModes: modesOutsideLockdown } as const;
/** Of those that name the agent; it may decide about nearly all of them. */
const mostLookedAt = 1000;

export function listReviews(parts: ApprovalToolParts) {
  return defineOperatorTool({
    name: 'reviews.list',
    description: 'Lists calls of other agents that wait for your decision, without their effects.',
    ...forAgents,
    mutates: false,
    properties: { limit: limitProperty },
    answers: ListApprovalsResponseSchema,
    run: async ({ limit }, { session }) => {
      const { store, mayDecide } = parts;
      const pending = await store.listForAgent({ approver: session.agent, limit: mostLookedAt });
      const own = pending.filter((task) => mayDecide(session, task) === undefined);
      return { approvals: own.slice(0, limit).map((task) => describeTask(task, parts)), more: own.length > limit };
    },
    summarize: (_args, { approvals }) => `${approvals.length} approvals`,
  });
}

export function showReview(parts: ApprovalToolParts) {
  return defineOperatorTool({
    name: 'reviews.show',
    description: 'Shows one call that waits for your decision, with its exact effect. Secrets are masked.',
    ...forAgents,
    mutates: false,
    properties: { task_id: taskProperty },
    required: ['task_id'],
    answers: GetApprovalResponseSchema,
    run: async ({ task_id: id }, { session }) => {
      const task = await findReviewable(parts, id, session);
      return { approval: describeWholeTask(task, parts) };
    },
    summarize: ({ task_id: id }) => `showed approval ${id}`,
  });
}

/** One decision is one run: an agent gives no consent beforehand, and none for more than the call it saw. */
export function decideReview(parts: ApprovalToolParts) {
  return defineOperatorTool({
    name: 'reviews.decide',
    description: 'Decides about a call of another agent, with exactly the effect that was shown.',
    ...forAgents,
    mutates: true,
    examples: [
      {
        task_id: 'TASK_ID',
        effect_sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
        decision: 'request_changes',
        note: 'Change one file at a time.',
      },
    ],
    properties: {
      task_id: taskProperty,
      effect_sha256: effectProperty,
      decision: { enum: decisions, description: 'request_changes denies the call and needs a note.' },
      note: noteProperty,
    },
    required: ['task_id', 'effect_sha256', 'decision'],
    answers: DecideApprovalResponseSchema,
    run: async (args, { session }) => {
      const task = await findReviewable(parts, args.task_id, session);
      if (args.decision === 'request_changes' && args.note === undefined) {
        throw new ToolFailure('INVALID_ARGUMENTS', 'A note has to say what to change.');
      }
      if (args.decision === 'approve') requireSeen(parts, session, task);
      const { note } = args;
      const redacted = note === undefined ? {} : { note: parts.redact(note) };
      const runs = args.decision === 'approve' ? 1 : 0;
      const decided = await decideTask(parts, { ...args, ...redacted }, session, runs);
      return { approval: describeTask(decided, { hideHeld: parts.hideHeld }), standingId: '' };
    },
    summarize: ({ task_id: id, decision }) => `decided ${id}: ${decision}`,
  });
}

/** Without it an agent that may decide could not approve what is masked. A secret that the gate holds stays masked. */
export function revealReview(parts: ApprovalToolParts) {
  return defineOperatorTool({
    name: 'reviews.reveal',
    description:
      'Shows what is masked, or too long for the card, in a call that waits for your decision. Secrets of the gate stay masked.',
    ...forAgents,
    mutates: false,
    properties: { task_id: taskProperty, ...revealProperties },
    required: ['task_id', 'reason'],
    answers: RevealedSecretsSchema,
    run: async ({ task_id: id, ...args }, { session }) => {
      const task = await findReviewable(parts, id, session);
      const masked = task.masked ?? [];
      const view = { subject: id, status: task.status, masked, mayShow: mustBeSeen };
      return { revealed: reveal(parts, view, args, session) };
    },
    summarize: ({ task_id: id }, { revealed }) => `revealed ${nameAll(revealed)} of approval ${id}`,
  });
}

/** A call whose rules do not name the agent looks like none. People have tools of their own for it. */
async function findReviewable(
  { store, mayDecide }: ApprovalToolParts,
  id: string,
  session: Session,
): Promise<ApprovalTask> {
  const task = await store.findApproval(id);
  if (task === undefined || (session.principal === 'agent' && !task.approvers?.includes(session.agent))) {
    throw unknownTask(id);
  }
  requireOffice(mayDecide, session, task);
  return task;
}
