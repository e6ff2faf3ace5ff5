import type { JsonObject } from '@sallyport/contract';
import type { Tool } from '../../call/tool.ts';
import type { ApprovalToolParts } from './approval-parts.ts';
import { defineApprovalTool, idOf } from './define-approval-tool.ts';
import { describeStanding } from './describe-approval.ts';

export function listStanding({ store, circumstances }: ApprovalToolParts): Tool<{ readonly session_id?: string }> {
  return defineApprovalTool({
    name: 'approvals.standing_list',
    description: 'Lists the standing approvals that are in force.',
    mutates: false,
    properties: { session_id: idOf('Only of this session.') },
    output: { required: ['standing'], properties: { standing: { type: 'array', items: { type: 'object' } } } },
    run: ({ session_id: sessionId }) => {
      const filter = { nowMs: Date.now(), ...(sessionId === undefined ? {} : { sessionId }) };
      // A change of mode or rules ends them, without anybody having to end each.
      const inForce = store.listStanding(filter).filter((each) => {
        const { rulesHash, mode } = circumstances(each.sessionId);
        return each.rulesHash === rulesHash && each.mode === mode;
      });
      return Promise.resolve({ standing: inForce.map(describeStanding) });
    },
    summarize: (_args, { standing }) => `${(standing as readonly JsonObject[]).length} standing approvals`,
  });
}

export function revokeStanding({ store }: ApprovalToolParts): Tool<{ readonly standing_id: string }> {
  return defineApprovalTool({
    name: 'approvals.standing_revoke',
    description: 'Ends a standing approval. The next call asks again.',
    mutates: true,
    properties: { standing_id: idOf('As approvals.standing_list shows it.') },
    required: ['standing_id'],
    output: {
      required: ['standing_id', 'revoked'],
      properties: { standing_id: { type: 'string' }, revoked: { type: 'boolean' } },
    },
    run: async ({ standing_id: id }) => ({
      standing_id: id,
      revoked: await store.revokeStanding(id, Date.now()),
    }),
    summarize: ({ standing_id: id }, { revoked }) =>
      `${revoked === true ? 'revoked' : 'found nothing in force as'} ${id}`,
  });
}
