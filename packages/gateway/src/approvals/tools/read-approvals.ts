import type { JsonObject } from '@sallyport/contract';
import { approvalStatuses } from '../../call/approval.ts';
import type { ApprovalStatus } from '../../call/approval.ts';
import type { Tool } from '../../call/tool.ts';
import { unknownTask } from './approval-parts.ts';
import type { ApprovalToolParts } from './approval-parts.ts';
import { defineApprovalTool, idOf, limitProperty } from './define-approval-tool.ts';
import { describeTask, describeWholeTask } from './describe-approval.ts';

interface ListArguments {
  readonly status: ApprovalStatus | 'all';
  readonly session_id?: string;
  readonly limit: number;
}

export function listApprovals({ store, ...showing }: ApprovalToolParts): Tool<ListArguments> {
  return defineApprovalTool({
    name: 'approvals.list',
    description: 'Lists calls that wait, or waited, for a person, without their effects.',
    mutates: false,
    properties: {
      status: { enum: [...approvalStatuses, 'all'], default: 'pending' },
      session_id: idOf('Only of this session.'),
      limit: limitProperty,
    },
    output: {
      required: ['approvals', 'more'],
      properties: {
        approvals: { type: 'array', items: { type: 'object' } },
        more: { type: 'boolean', description: 'Whether there are more than these.' },
      },
    },
    run: ({ status, session_id: sessionId, limit }) => {
      const filter = {
        ...(status === 'all' ? {} : { status }),
        ...(sessionId === undefined ? {} : { sessionId }),
        limit: limit + 1,
      };
      const found = store.listApprovals(filter);
      const approvals = found.slice(0, limit).map((task) => describeTask(task, showing));
      return Promise.resolve({ approvals, more: found.length > limit });
    },
    summarize: (_args, { approvals, more }) =>
      `${(approvals as readonly JsonObject[]).length} approvals${more === true ? ', and there are more' : ''}`,
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

export function showApproval({ store, ...showing }: ApprovalToolParts): Tool<{ readonly task_id: string }> {
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
      return Promise.resolve(describeWholeTask(task, showing));
    },
    summarize: ({ task_id: id }) => `showed approval ${id}`,
  });
}
