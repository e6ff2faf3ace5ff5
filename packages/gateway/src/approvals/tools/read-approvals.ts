import { ApprovalService } from '@sallyport/contract';
import { approvalStatuses } from '../../call/approval.ts';
import type { ApprovalStatus, ApprovalTask } from '../../call/approval.ts';
import { ToolFailure } from '../../call/tool.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import { limitProperty, taskProperty, unknownTask } from './approval-parts.ts';
import type { ApprovalToolParts } from './approval-parts.ts';
import { describeTask, describeWholeTask } from './describe-approval.ts';
import * as schema from '../../registry/schemas/schema.ts';

export function listApprovals({ store, ...showing }: ApprovalToolParts) {
  return defineOperatorTool({
    name: 'approvals.list',
    description: 'Lists calls that wait, or waited, for a person, without their effects.',
    mutates: false,
    properties: {
      status: { enum: [...approvalStatuses, 'all'], default: 'pending' },
      session_id: schema.id('Only of this session.'),
      limit: limitProperty,
      after: schema.id(
        'Only those that were asked after this one, the oldest first. Goes with a status and without a session.',
      ),
      whole: schema.flag('With their effects.'),
    },
    answers: ApprovalService.method.listApprovals,
    argumentsOf: ({ status = 'all', limit = 50, after, whole = false }) => ({
      status,
      limit: Math.min(Number(limit), 200),
      ...(after === undefined ? {} : { after }),
      whole,
    }),
    run: async ({ status, session_id: sessionId, limit, after, whole }) => {
      const found =
        after === undefined
          ? await store.listApprovals({
              ...(status === 'all' ? {} : { status }),
              ...(sessionId === undefined ? {} : { sessionId }),
              limit: limit + 1,
            })
          : await listAfter(store, { status, sessionId, after, limit: limit + 1 });
      const describe = whole ? describeWholeTask : describeTask;
      const approvals = found.slice(0, limit).map((task) => describe(task, showing));
      return { approvals, more: found.length > limit };
    },
    summarize: (_args, { approvals, more }) => `${approvals.length} approvals${more ? ', and there are more' : ''}`,
  });
}

interface AfterFilter {
  readonly status: ApprovalStatus | 'all';
  readonly sessionId: string | undefined;
  readonly after: string;
  readonly limit: number;
}

async function listAfter(
  store: Pick<ApprovalToolParts['store'], 'findApproval' | 'listApprovalsAfter'>,
  { status, sessionId, after: id, limit }: AfterFilter,
): Promise<readonly ApprovalTask[]> {
  const after = await store.findApproval(id);
  if (after === undefined) throw unknownTask(id);
  if (status === 'all' || sessionId !== undefined)
    throw new ToolFailure('INVALID_ARGUMENTS', 'Name a status, and no session: after goes with nothing else.');
  return store.listApprovalsAfter({ status, after, limit });
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
    run: async ({ task_id: id }) => {
      const task = await store.findApproval(id);
      if (task === undefined) throw unknownTask(id);
      return { approval: describeWholeTask(task, showing) };
    },
    summarize: ({ task_id: id }) => `showed approval ${id}`,
  });
}
