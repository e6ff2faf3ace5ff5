import { randomUUIDv7 } from 'node:crypto';
import type { ApprovalTask, StandingApproval } from '../call/approval.ts';

/** For how long and how often a person also approves further calls. */
export interface StandingTerms {
  /** As long as the session, whatever the tool touches. */
  readonly forSession?: boolean;
  /** For exactly what this call touches. */
  readonly minutes?: number;
  /** Absent: any number. */
  readonly uses?: number;
}

export const mostMinutes = 8 * 60;
const mostMinutesHigh = 15;

/** Why such an approval cannot be given for the call. Undefined: it can. */
export function explainTerms(terms: StandingTerms, { risk }: Pick<ApprovalTask, 'risk'>): string | undefined {
  const { forSession = false, minutes, uses } = terms;
  if (forSession === (minutes !== undefined)) return 'Say either that it is for the session, or for how many minutes.';
  if (risk === 'critical') return 'A call of critical risk is approved one at a time.';
  if (minutes !== undefined && minutes > mostMinutes) return `It lasts ${mostMinutes} minutes at most.`;
  if (risk !== 'high') return undefined;
  if (forSession) return 'A call of high risk is not approved for the session: say for how many minutes and uses.';
  if ((minutes ?? 0) > mostMinutesHigh) return `For high risk it lasts ${mostMinutesHigh} minutes at most.`;
  return uses === undefined ? 'For high risk, say for how many uses.' : undefined;
}

/** The standing approval that follows from approving this task on these terms, which must have been found good. */
export function standingOf(
  terms: StandingTerms,
  task: ApprovalTask,
  given: { readonly by: string; readonly atMs: number },
): StandingApproval {
  const { minutes = mostMinutes, uses, forSession = false } = terms;
  return {
    id: randomUUIDv7(),
    sessionId: task.sessionId,
    agent: task.agent,
    tool: task.tool,
    ...(forSession ? {} : { scopeSha256: task.scopeSha256 }),
    risk: task.risk,
    ...(task.askedBy === undefined ? {} : { askedBy: task.askedBy }),
    // Those of the call: what changes at this very moment ends it.
    rulesHash: task.rulesHash,
    mode: task.mode ?? '',
    grantedBy: given.by,
    grantedAtMs: given.atMs,
    expiresAtMs: given.atMs + minutes * 60_000,
    ...(uses === undefined ? {} : { usesLeft: uses }),
  };
}
