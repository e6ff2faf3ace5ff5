import type * as contract from '@sallyport/contract';
import type { ShownMask, WholeApproval } from './approval-card.ts';
import { toNumber } from '../../client/answer-json.ts';
import type { WireJson } from '../../client/wire-json.ts';

export type WatchApprovalsJson = WireJson<contract.WatchApprovalsResponse>;

/** An approval from the wire, in the words in which the tools describe one. */
export function approvalToJson(approval: NonNullable<WatchApprovalsJson['approval']>): WholeApproval {
  const { decidedBy = '', note = '', approverAgents = [] } = approval;
  const decidedAtMs = toNumber(approval.decidedAtMs);
  return {
    task_id: approval.id ?? '',
    status: approval.status ?? '',
    agent: approval.agent ?? '',
    session_id: approval.sessionId ?? '',
    tool: approval.tool ?? '',
    risk: approval.risk ?? '',
    title: approval.title ?? '',
    effect: approval.effect ?? '',
    effect_sha256: approval.effectSha256 ?? '',
    undoable: approval.undoable ?? false,
    rule_id: approval.ruleId ?? '',
    reason: approval.reason ?? '',
    approver_role: approval.approverRole ?? '',
    ...(approverAgents.length === 0 ? {} : { approver_agents: approverAgents }),
    wanted: approval.wanted ?? 0,
    created_at: new Date(toNumber(approval.createdAtMs)).toISOString(),
    expires_at: new Date(toNumber(approval.expiresAtMs)).toISOString(),
    ...(decidedBy === '' ? {} : { decided_by: decidedBy }),
    ...(approval.decidedByAgent ? { decided_by_agent: true } : {}),
    ...(decidedAtMs === 0 ? {} : { decided_at: new Date(decidedAtMs).toISOString() }),
    ...(note === '' ? {} : { note }),
    ...(approval.hold ? { hold: approval.hold } : {}),
    ...masksToJson(approval.masked),
  };
}

/** Absent, when nothing is masked. */
export function masksToJson(masked: readonly WireJson<contract.MaskedSecret>[] = []): {
  readonly masked?: readonly ShownMask[];
} {
  if (masked.length === 0) return {};
  const described = masked.map(({ number = 0, mark = '', characters = 0, name = '', held = false }) => {
    return { number, mark, characters, ...(name === '' ? {} : { name }), ...(held ? { held } : {}) };
  });
  return { masked: described };
}
