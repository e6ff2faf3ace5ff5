import { ApprovalService } from '@sallyport/contract';
import { approvalStatuses } from '../../call/approval.ts';
import type { ApprovalStatus } from '../../call/approval.ts';
import { defineOperatorTool, idOf } from '../../registry/define-operator-tool.ts';
import { limitProperty, taskProperty, unknownTask } from './approval-parts.ts';
import type { ApprovalToolParts, OfTask } from './approval-parts.ts';
import { describeTask, describeWholeTask } from './describe-approval.ts';

interface ListArguments {
  readonly status: ApprovalStatus | 'all';
  readonly session_id?: string;
  readonly limit: number;
}

export function listApprovals({ store, ...showing }: ApprovalToolParts) {
  return defineOperatorTool({
    name: 'approvals.list',
    description: 'Lists calls that wait, or waited, for a person, without their effects.',
    mutates: false,
    properties: {
      status: { enum: [...approvalStatuses, 'all'], default: 'pending' },
      session_id: idOf('Only of this session.'),
      limit: limitProperty,
    },
    answers: ApprovalService.method.listApprovals,
    argumentsOf: ({ status = 'all', limit = 50 }) => ({ status, limit: Math.min(Number(limit), 200) }),
    run: async ({ status, session_id: sessionId, limit }: ListArguments) => {
      const filter = {
        ...(status === 'all' ? {} : { status }),
        ...(sessionId === undefined ? {} : { sessionId }),
        limit: limit + 1,
      };
      const found = await store.listApprovals(filter);
      const approvals = found.slice(0, limit).map((task) => describeTask(task, showing));
      return { approvals, more: found.length > limit };
    },
    summarize: (_args, { approvals, more }) => `${approvals.length} approvals${more ? ', and there are more' : ''}`,
  });
}

export function showApproval({ store, ...showing }: ApprovalToolParts) {
  return defineOperatorTool({
    name: 'approvals.show',
    description: 'Shows one call that waits, or waited, for a person, with its exact effect.',
    mutates: false,
    properties: { task_id: taskProperty },
    required: ['task_id'],
    answers: ApprovalService.method.getApproval,
    argumentsOf: ({ id }) => ({ task_id: id }),
    run: async ({ task_id: id }: OfTask) => {
      const task = await store.findApproval(id);
      if (task === undefined) throw unknownTask(id);
      return { approval: describeWholeTask(task, showing) };
    },
    summarize: ({ task_id: id }) => `showed approval ${id}`,
  });
}
