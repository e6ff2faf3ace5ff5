import type { Mode } from './session.ts';
import type { Risk } from './tool.ts';

export const approvalStatuses = ['pending', 'approved', 'denied', 'expired', 'used'] as const;
export type ApprovalStatus = (typeof approvalStatuses)[number];

/** Who may decide: the senior of the caller, or the director of the organisation. */
export type ApproverRole = 'senior' | 'director';

/** What has a mark in its place in what a person is shown: a secret, as far as it may be written down, or a long rest. */
export interface MaskedSecret {
  /** In its mark. */
  readonly number: number;
  readonly characters: number;
  /** Under which the gate knows it. Absent: it has no name, or only the shape of a credential. */
  readonly name?: string;
  /** The gate holds this very value, so that nothing else can be hidden there. Absent: it must be revealed to be approved. */
  readonly isHeld?: true;
  /** It is the rest of an effect that is too long for a card, and this is its SHA-256. Absent: it is a secret. */
  readonly restSha256?: string;
}

/** A call that waits for a person. Everything in it that came from outside is redacted. */
export interface NewApproval {
  /** UUID version 7. */
  readonly id: string;
  readonly sessionId: string;
  readonly agent: string;
  readonly callId: string;
  readonly traceId: string;
  readonly requestId: string;
  readonly tool: string;
  readonly toolVersion: string;
  /**
   * SHA-256 over everything that the decision is about: session, tool, version and file, arguments, scopes, rules and
   * effect. A call with another binding is another call.
   */
  readonly binding: string;
  /** What the call would touch, without arguments: approvals for more than one call are compared by it. */
  readonly scopeSha256: string;
  readonly effectSha256: string;
  /** One line. */
  readonly title: string;
  /** The arguments without secrets, as JSON. Absent: a task of an older version, which kept none. */
  readonly shownArguments?: string;
  /** The effect in full: a diff, a list, a command line or the arguments. */
  readonly effect: string;
  /** The secrets that have a mark in title and effect. Absent: none. */
  readonly masked?: readonly MaskedSecret[];
  readonly undoable: boolean;
  readonly risk: Risk;
  /** The rule that asks, and why. */
  readonly ruleId: string;
  readonly reason: string;
  /** All the rules that ask. Absent: none but the tool itself. */
  readonly askedBy?: readonly string[];
  readonly rulesHash: string;
  /** In which it was asked. Absent: a task of an older version. */
  readonly mode?: Mode;
  readonly approverRole: ApproverRole;
  /** The person whose turn it is; others of that office may decide, too. Absent: a task of an older version. */
  readonly assignedTo?: string;
  /** Agents that the rules let decide in a person's place, if they are senior to the caller. Absent: people only. */
  readonly approvers?: readonly string[];
  /** As the caller gave it, without secrets. Absent: it gave none. */
  readonly correlationId?: string;
  readonly createdAtMs: number;
  readonly remindAtMs: number;
  readonly expiresAtMs: number;
}

export interface ApprovalTask extends NewApproval {
  readonly status: ApprovalStatus;
  /** Runs that are asked for: identical requests are one card, and each is a run of its own. */
  readonly wanted: number;
  /** Runs that are approved and not yet used. */
  readonly runsLeft: number;
  /** Absent: nobody was reminded. */
  readonly remindedAtMs?: number;
  readonly decidedAtMs?: number;
  /** The person or agent, or `timeout`. */
  readonly decidedBy?: string;
  /** It was an agent that the rules name. Absent: it was not. */
  readonly decidedByAgent?: true;
  /** What they say to the caller, such as what to change. Absent: nothing. */
  readonly note?: string;
}

export interface Decision {
  readonly taskId: string;
  readonly approved: boolean;
  readonly by: string;
  /** Absent: a person decided. */
  readonly byAgent?: true;
  readonly atMs: number;
  /** Of the effect that was shown. Another one now means that nothing was decided. */
  readonly effectSha256: string;
  /** As many as were seen on the card. Absent: one. */
  readonly runs?: number;
  readonly note?: string;
}

/** An approval of more than one call: of this tool, by this session, within this scope. */
export interface StandingApproval {
  readonly id: string;
  readonly sessionId: string;
  readonly agent: string;
  readonly tool: string;
  /** Absent: whatever the tool touches, as far as the rules let it be asked about. */
  readonly scopeSha256?: string;
  readonly risk: Risk;
  /** The rules whose question it answers: another one that asks is asked about. Absent: none but the tool itself. */
  readonly askedBy?: readonly string[];
  readonly rulesHash: string;
  readonly mode: string;
  readonly grantedBy: string;
  readonly grantedAtMs: number;
  readonly expiresAtMs: number;
  /** Absent: any number. */
  readonly usesLeft?: number;
}

/** What lets an admitted call run, consumed together with its intent. */
export type ConsentUse =
  | { readonly kind: 'task'; readonly taskId: string; readonly binding: string }
  | { readonly kind: 'standing'; readonly standingId: string }
  | {
      readonly kind: 'token';
      readonly tokenId: string;
      readonly expiresAtMs: number;
      readonly reusable: boolean;
      /** For a token of a plan: the step, which must be the next one. */
      readonly step?: { readonly planId: string; readonly index: number };
    };

/** One call of a plan, as it will have to be made. */
export interface PlanStep {
  readonly tool: string;
  /** SHA-256 over the tool and its canonical arguments: the call that the step stands for, and no other. */
  readonly callSha256: string;
  /** The arguments without secrets, as JSON. */
  readonly shownArguments: string;
  readonly title: string;
  readonly effect: string;
  /** As for a single call. */
  readonly masked?: readonly MaskedSecret[];
  /** Absent: it is not known to be. */
  readonly undoable?: boolean;
  readonly risk: Risk;
  /** What the agent says it is for. */
  readonly reason: string;
  /** Over the effect as it was shown. Absent: a plan of an older version, which kept none. */
  readonly boundSha256?: string;
  /** The rules that ask about it, once the steps before it have run. Absent: none. */
  readonly askedBy?: readonly string[];
  /** Steps before it, by index, that may change its effect. Absent: none. */
  readonly changedBy?: readonly number[];
}

/** Calls that an agent means to make, shown whole before any of them runs. */
export interface NewPlan {
  readonly id: string;
  readonly sessionId: string;
  readonly agent: string;
  readonly traceId: string;
  readonly summary: string;
  readonly steps: readonly PlanStep[];
  readonly approverRole: ApproverRole;
  readonly rulesHash: string;
  readonly mode: Mode;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

export interface Plan extends NewPlan {
  readonly status: 'pending' | 'approved' | 'denied' | 'expired';
  /** Indexes of the steps that may run, in order. Empty until somebody decided. */
  readonly approvedSteps: readonly number[];
  /** How many of the approved steps have been started. */
  readonly started: number;
  readonly decidedBy?: string;
  readonly decidedAtMs?: number;
  readonly note?: string;
  /** When the last step that ran ended. Absent: none has. */
  readonly lastOutcomeAtMs?: number;
}

export interface PlanDecision {
  readonly planId: string;
  /** Empty: nothing of it. */
  readonly approvedSteps: readonly number[];
  readonly by: string;
  readonly atMs: number;
  readonly note?: string;
}
