import type { ConfirmTokens } from '../../approvals/confirm-tokens.ts';
import type { ApprovalTask, ApproverRole } from '../../call/approval.ts';
import type * as facts from '../../call/call.ts';
import type { Session } from '../../call/session.ts';
import type { Effect, Risk } from '../../call/tool.ts';
import type { ApprovalRepository, Snapshot } from '../../storage/stores.ts';

/** What is known about a call when somebody may have to approve it. */
export type ApprovalNeeds = facts.JudgedCall & facts.Decoded & facts.ReuseChecked;

export interface ApprovalParts {
  readonly store: Pick<
    ApprovalRepository,
    | 'openApproval'
    | 'findApproval'
    | 'findApprovalByBinding'
    | 'countPending'
    | 'listPendingLike'
    | 'findPlan'
    | 'isTokenUsed'
  > &
    Pick<Snapshot, 'listStanding'>;
  readonly tokens: Pick<ConfirmTokens, 'read'>;
  /** Who decides about a call of this session. Undefined: nobody could. */
  readonly routeApproval: (session: Session, risk: Risk) => ApproverRole | undefined;
  /** The person who is asked first. */
  readonly assigneeOf: (agent: string, role: ApproverRole) => string;
  readonly limits: () => {
    readonly expireAfterMs: number;
    readonly remindAfterMs: number;
    readonly maxPending: number;
  };
  /**
   * Called with each task that waits for a decision, new or joined, and the texts behind the marks in its view.
   * Undefined: those from when it was opened.
   */
  readonly onPending: (task: ApprovalTask, secrets: readonly string[] | undefined) => void;
  /** Ends a task that was opened under other rules, because the same call was sent again. */
  readonly endOutdated: (task: ApprovalTask) => Promise<void>;
  /** Whether there is room to keep this much masked or long text until somebody looks, for a new task or this one. */
  readonly hasRoom: (characters: number, taskId: string | undefined) => boolean;
}

export function needOf({ tool, verdict }: ApprovalNeeds): string {
  return `${tool.definition.name} needs a person's approval: ${verdict.reason}`;
}

/** The binding covers it, so that it is the basis of the effect that was shown. */
export function basisOf({ basis }: Effect): Pick<facts.Consent, 'basis'> {
  return basis === undefined ? {} : { basis };
}

/** A consent given beforehand answers the rules that asked then. A rule that asks since then needs a new answer. */
export function isAnswered({ verdict: { askedBy = [] } }: ApprovalNeeds, answered: readonly string[]): boolean {
  return askedBy.every((rule) => answered.includes(rule));
}
