import type { RedactText } from '../../call/redacted.ts';
import type { ApprovalWatch, PlanWatch } from '../approval-watch.ts';
import type { ConfirmTokens } from '../confirm-tokens.ts';
import { mustBeSeen, viewsOf } from '../explain-hold.ts';
import type { ExplainHold } from '../explain-hold.ts';
import type { Decidable, MayDecide } from '../may-decide.ts';
import { markOf } from '../mask-secrets.ts';
import type { Rehearse } from '../rehearsal.ts';
import type { UnmaskedSecrets } from '../unmasked-secrets.ts';
import type { ApprovalTask, ApproverRole, Plan } from '../../call/approval.ts';
import { refuse } from '../../call/refusal.ts';
import type { Mode, Session } from '../../call/session.ts';
import { risks, ToolFailure, ToolRefused } from '../../call/tool.ts';
import type { Risk } from '../../call/tool.ts';
import type { ApprovalRepository, Store } from '../../storage/stores.ts';
import * as schema from '../../registry/schemas/schema.ts';

/** What the tools of approvals, plans and confirm tokens work with. */
export interface ApprovalToolParts {
  readonly store: ApprovalRepository & Pick<Store, 'findSession' | 'listStanding'>;
  readonly watch: ApprovalWatch;
  readonly plans: PlanWatch;
  readonly tokens: ConfirmTokens;
  readonly mayDecide: MayDecide;
  /** Undefined: nobody could decide. */
  readonly routeApproval: (session: Session, risk: Risk) => ApproverRole | undefined;
  readonly limits: () => { readonly expireAfterMs: number; readonly maxPending: number };
  /** Under which rules and in which mode things are decided now. */
  readonly circumstances: (sessionId: string) => { readonly rulesHash: string; readonly mode: Mode };
  readonly rehearse: Rehearse;
  /** What the marks in requests that wait stand for. */
  readonly unmasked: UnmaskedSecrets;
  readonly explainHold: ExplainHold;
  readonly workspaceOf: (sessionId: string) => string;
  /** Takes secrets out of what an agent wrote. */
  readonly redact: RedactText;
  /** Takes those out of stored texts that the gate holds by now. */
  readonly hideHeld: (text: string) => string;
  /** Durable when it returns. */
  readonly saveConfirmKey: (keyFile: string) => void;
}

export const taskProperty = schema.id('As approvals.list shows it.');
export const planProperty = schema.id('As plans.list shows it, and plans.propose returned it.');

export const noteProperty = schema.string('What to tell the agent, such as what it should change. Absent: nothing.', {
  minLength: 1,
  maxLength: 4000,
});

export const limitProperty = schema.integer('How many, newest first.', {
  minimum: 1,
  maximum: 200,
  default: 50,
});

export function requireOffice(mayDecide: MayDecide, person: Session, about: Decidable): void {
  const reason = mayDecide(person, about);
  if (reason === undefined) return;
  throw new ToolRefused(refuse('RULE_DENIES', 'approver', reason, { remedy: 'Ask somebody else who may decide.' }));
}

/**
 * Nobody approves what they have not seen. The hash of the effect stands for what was on the card; what is masked or too
 * long for it must have been shown to this person or agent, unless it is a secret that the gate holds.
 */
export function requireSeen(
  { explainHold, unmasked }: ApprovalToolParts,
  decider: Session,
  waiting: ApprovalTask | Plan,
  isDecided: (view: number) => boolean = () => true,
): void {
  const hold = explainHold(waiting);
  if (hold !== undefined) throw new ToolRefused(refuse('APPROVAL_OUTDATED', 'outdated', hold));
  const unseen = viewsOf(waiting).flatMap(({ subject, masked }, view) =>
    isDecided(view)
      ? masked.filter((each, at) => mustBeSeen(each) && !unmasked.wasShown(subject, at, decider)).map(markOf)
      : [],
  );
  if (unseen.length === 0) return;
  const [first = ''] = unseen;
  const message =
    unseen.length === 1
      ? `${first} was not shown to you yet, and could be anything.`
      : `${unseen.length} parts were not shown to you yet, and could be anything. The first is ${first}.`;
  const remedy = 'Reveal all that is masked, and the rest of what is too long; then decide.';
  throw new ToolRefused(refuse('APPROVAL_UNSEEN', 'unseen', message, { remedy }));
}

export function requireApprover(
  routeApproval: ApprovalToolParts['routeApproval'],
  session: Session,
  ofCalls: readonly Risk[],
): ApproverRole {
  const highest = risks[Math.max(0, ...ofCalls.map((risk) => risks.indexOf(risk)))] ?? 'critical';
  const role = routeApproval(session, highest);
  if (role !== undefined) return role;
  throw new ToolRefused(
    refuse('NO_APPROVER', 'approver', 'Nobody can decide about it.', {
      forOperators: 'Name a senior for the agent, or a director.',
    }),
  );
}

export function unknownTask(id: string): ToolFailure {
  return new ToolFailure('NOT_FOUND', `There is no approval ${id}.`, {
    forOperators: '`sallyport approvals list` shows them.',
  });
}

export function unknownPlan(id: string): ToolFailure {
  return new ToolFailure('NOT_FOUND', `There is no plan ${id}.`, {
    forOperators: '`sallyport plan list` shows them.',
  });
}

/** Somebody else decided first, or time ran out. */
export function decidedBefore(what: { readonly status: string; readonly decidedBy?: string }): Error {
  if (what.status === 'expired' || what.status === 'pending') {
    return new ToolRefused(refuse('APPROVAL_EXPIRED', 'deadline', 'The time to decide is over.'));
  }
  const word = what.status === 'denied' ? 'denied' : 'approved';
  return new ToolFailure('ALREADY_EXISTS', `${what.decidedBy ?? 'Somebody'} has ${word} it already.`);
}
