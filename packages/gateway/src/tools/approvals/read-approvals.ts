import type { JsonObject } from '@sallyport/contract';
import { approvalStatuses } from '../../model/approval.ts';
import type { ApprovalStatus } from '../../model/approval.ts';
import type { Tool } from '../../model/tool.ts';
import { unknownTask } from './approval-parts.ts';
import type { ApprovalToolParts } from './approval-parts.ts';
import { defineApprovalTool, idOf, limitProperty } from './define-approval-tool.ts';
import { describeTask, describeWholeTask } from './describe-approval.ts';

interface ListArguments {
  readonly status: ApprovalStatus | 'all';
  readonly session_id?: string;
  readonly limit: number;
}

export function listApprovals({ store }: ApprovalToolParts): Tool<ListArguments> {
  return defineApprovalTool({
    name: 'approvals.list',
    description: 'Lists calls that wait, or waited, for a person, without their effects.',
    mutates: false,
    properties: {
      status: { enum: [...approvalStatuses, 'all'], default: 'pending' },
      session_id: idOf('Only of this session.'),
      limit: limitProperty,
    },
    output: { required: ['approvals'], properties: { approvals: { type: 'array', items: { type: 'object' } } } },
    run: ({ status, session_id: sessionId, limit }) => {
      const filter = {
        ...(status === 'all' ? {} : { status }),
        ...(sessionId === undefined ? {} : { sessionId }),
        limit,
      };
      return Promise.resolve({ approvals: store.listApprovals(filter).map(describeTask) });
    },
    summarize: (_args, { approvals }) => `${(approvals as readonly JsonObject[]).length} approvals`,
  });
}

export const wholeTaskOutput = {
  required: ['task_id', 'status', 'effect', 'effect_sha256'],
  properties: {
    task_id: { type: 'string' },
    status: { enum: approvalStatuses },
    effect: { type: 'string' },
    effect_sha256: { type: 'string' },
  },
};

export function showApproval({ store }: ApprovalToolParts): Tool<{ readonly task_id: string }> {
  return defineApprovalTool({
    name: 'approvals.show',
    description: 'Shows one call that waits, or waited, for a person, with its exact effect.',
    mutates: false,
    properties: { task_id: idOf('As approvals.list shows it.') },
    required: ['task_id'],
    output: wholeTaskOutput,
    run: ({ task_id: id }) => {
      const task = store.findApproval(id);
      if (task === undefined) throw unknownTask(id);
      return Promise.resolve(describeWholeTask(task));
    },
    summarize: ({ task_id: id }) => `showed approval ${id}`,
  });
}
