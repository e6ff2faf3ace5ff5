import type {
  ApprovalStatus,
  ApprovalTask,
  Decision,
  NewApproval,
  NewPlan,
  Plan,
  PlanDecision,
  StandingApproval,
} from '../../call/approval.ts';

/** What became due. */
export interface Aged {
  readonly expired: readonly ApprovalTask[];
  readonly reminders: readonly ApprovalTask[];
  readonly expiredPlans: readonly Plan[];
}

/** Of one session, or in one state; absent: all. */
export type PlanFilter = { readonly limit: number } & (
  | { readonly sessionId?: string; readonly status?: never }
  | { readonly status: Plan['status']; readonly sessionId?: never }
);

/** Decisions of people. All of them survive a restart, and each is used as often as it was given. */
export interface ApprovalRepository {
  /** Opens a task, or joins the pending one with the same binding: another request id wants one more run. */
  readonly openApproval: (task: NewApproval) => Promise<ApprovalTask>;
  /** Undefined when the task is not pending any more, is too old, or shows another effect. */
  readonly decideApproval: (decision: Decision) => Promise<ApprovalTask | undefined>;
  /**
   * Ends tasks and plans that nobody decided in time, with a record of each in the log, in one commit; and marks whom
   * to remind. Each is returned once in each list. If many are due, it returns some; the others are still due.
   */
  readonly ageApprovals: (nowMs: number) => Promise<Aged>;
  readonly findApproval: (id: string) => Promise<ApprovalTask | undefined>;
  /** The newest task of a session with this binding. */
  readonly findApprovalByBinding: (sessionId: string, binding: string) => Promise<ApprovalTask | undefined>;
  /** Newest first. */
  readonly listApprovals: (filter: {
    readonly status?: ApprovalStatus;
    readonly sessionId?: string;
    readonly limit: number;
  }) => Promise<readonly ApprovalTask[]>;
  /** Of one state, oldest first: those that were opened after the task `after`, or from the first on. */
  readonly listApprovalsAfter: (filter: {
    readonly status: ApprovalStatus;
    readonly after?: Pick<ApprovalTask, 'id' | 'createdAtMs'>;
    readonly limit: number;
  }) => Promise<readonly ApprovalTask[]>;
  /** How many tasks are pending, counted up to `most`. */
  readonly countAllPending: (most: number) => Promise<number>;
  /** How many tasks of a session are pending, counted up to `most`. */
  readonly countPending: (sessionId: string, most: number) => Promise<number>;
  /** Pending tasks of a session that show this effect. */
  readonly listPendingLike: (sessionId: string, effectSha256: string) => Promise<readonly ApprovalTask[]>;
  /** Pending tasks for which the rules name this agent, newest first. Whether it may decide is another question. */
  readonly listForAgent: (filter: {
    readonly approver: string;
    readonly limit: number;
  }) => Promise<readonly ApprovalTask[]>;
  /** Ended tasks of open sessions with a callback that has not been sent, in the order in which they ended. */
  readonly listUntold: (filter: {
    readonly endedAfterMs: number;
    readonly limit: number;
  }) => Promise<readonly ApprovalTask[]>;
  /** The caller was told how the task ended. */
  readonly noteTold: (taskId: string, nowMs: number) => Promise<void>;
  /** When the next reminder is due, or the next task or plan expires. Undefined: nothing is pending. */
  readonly nextApprovalDeadlineMs: () => Promise<number | undefined>;
  readonly proposePlan: (plan: NewPlan) => Promise<void>;
  /** Undefined when the plan is not pending any more, or too old. */
  readonly decidePlan: (decision: PlanDecision) => Promise<Plan | undefined>;
  readonly findPlan: (id: string) => Promise<Plan | undefined>;
  /** Newest first. */
  readonly listPlans: (filter: PlanFilter) => Promise<readonly Plan[]>;
  /** Whether a token was used or revoked. The claims of a token say whether it is reusable. */
  readonly isTokenUsed: (tokenId: string) => Promise<boolean>;
  /** Tokens with this id are refused from now on. */
  readonly revokeToken: (tokenId: string, expiresAtMs: number) => Promise<void>;
  readonly grantStanding: (standing: StandingApproval) => Promise<void>;
  /** False when it was not in force. */
  readonly revokeStanding: (id: string, nowMs: number) => Promise<boolean>;
}
