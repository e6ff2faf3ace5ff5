import { ApprovalService } from '@sallyport/contract';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import type { ApprovalToolParts } from './approval-parts.ts';
import { describeStanding } from './describe-approval.ts';
import * as schema from '../../registry/schemas/schema.ts';

export function listStanding({ store, circumstances }: ApprovalToolParts) {
  return defineOperatorTool({
    name: 'approvals.standing_list',
    description: 'Lists the standing approvals that are in force.',
    mutates: false,
    properties: { session_id: schema.id('Only of this session.') },
    answers: ApprovalService.method.listStandingApprovals,
    run: ({ session_id: sessionId }) => {
      const filter = { nowMs: Date.now(), ...(sessionId === undefined ? {} : { sessionId }) };
      // A change of mode or rules ends them, without anybody having to end each.
      const inForce = store.listStanding(filter).filter((each) => {
        const { rulesHash, mode } = circumstances(each.sessionId);
        return each.rulesHash === rulesHash && each.mode === mode;
      });
      return { standing: inForce.map(describeStanding) };
    },
    summarize: (_args, { standing }) => `${standing.length} standing approvals`,
  });
}

export function revokeStanding({ store }: ApprovalToolParts) {
  return defineOperatorTool({
    name: 'approvals.standing_revoke',
    description: 'Ends a standing approval. The next call asks again.',
    mutates: true,
    properties: { standing_id: schema.id('As approvals.standing_list shows it.') },
    required: ['standing_id'],
    answers: ApprovalService.method.revokeStandingApproval,
    argumentsOf: ({ id }) => ({ standing_id: id }),
    run: async ({ standing_id: id }) => {
      return { revoked: await store.revokeStanding(id, Date.now()) };
    },
    summarize: ({ standing_id: id }, { revoked }) => `${revoked ? 'revoked' : 'found nothing in force as'} ${id}`,
  });
}
