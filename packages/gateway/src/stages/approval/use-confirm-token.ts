import { bindEffect, callSha256 } from '../../approvals/bind-call.ts';
import type { Binding } from '../../approvals/bind-call.ts';
import type { TokenClaims } from '../../approvals/confirm-tokens.ts';
import type * as facts from '../../call/call.ts';
import { refuse } from '../../call/refusal.ts';
import type { Refusal } from '../../call/refusal.ts';
import type { Context } from '../../call/stage.ts';
import type { Effect } from '../../call/tool.ts';
import type { ApprovalRepository } from '../../storage/stores.ts';
import { basisOf, isAnswered } from './approval-parts.ts';
import type { ApprovalNeeds, ApprovalParts } from './approval-parts.ts';

/** How long after the step before it a step of a plan may begin. */
const stepPauseMs = 60_000;

/** Undefined when the call brings no token. */
export async function useConfirmToken(
  call: ApprovalNeeds,
  { binding }: Binding,
  effect: Effect,
  { tokens, store }: ApprovalParts,
  context: Context,
): Promise<facts.Consented | Refusal | undefined> {
  if (!call.confirmToken) return undefined;
  const nowMs = context.nowMs();
  const { rule } = call.verdict;
  const remedy = 'Propose the plan again, or send the call without a token.';
  const no = (code: Parameters<typeof refuse>[0], message: string) => refuse(code, rule, message, { remedy });
  const claims = tokens.read(call.confirmToken);
  if (claims === undefined) return no('CONFIRM_TOKEN_INVALID', 'The confirm token was not made by this gate.');
  if (claims.sessionId !== call.session.id || claims.traceId !== call.traceId) {
    return no('CONFIRM_TOKEN_TRACE', 'The confirm token was given to another session or for another trace.');
  }
  if (claims.expiresAtMs <= nowMs) return no('CONFIRM_TOKEN_EXPIRED', 'The confirm token has expired.');
  if (claims.rulesHash !== call.rules.hash || claims.mode !== call.mode) {
    return no('CONFIRM_TOKEN_EXPIRED', 'The mode or the rules have changed since the confirm token was given.');
  }
  const wanted = callSha256(call.tool.definition, call.arguments.sha256);
  const step = claims.planId === undefined ? undefined : await nextStep(claims, wanted, store, nowMs);
  if (step === 'late') return no('CONFIRM_TOKEN_EXPIRED', 'The step before this one ended more than a minute ago.');
  if (step === 'other' || !claims.calls.includes(wanted)) {
    return no('CONFIRM_TOKEN_SCOPE', 'The confirm token does not cover this call, or not as the next one.');
  }
  const answered = (step === undefined ? claims.askedBy?.[claims.calls.indexOf(wanted)] : step.askedBy) ?? [];
  if (!isAnswered(call, answered)) {
    return no('APPROVAL_MISMATCH', 'A rule now asks about the call that did not ask when the person agreed.');
  }
  const shown = step === undefined ? claims.effects?.[claims.calls.indexOf(wanted)] : step.boundSha256;
  if (shown !== undefined && shown !== bindEffect(effect)) {
    // The call that used the token changed the effect.
    if (step === undefined && (await store.isTokenUsed(claims.id))) {
      return no('CONFIRM_TOKEN_USED', 'The confirm token was used or revoked.');
    }
    return no('APPROVAL_MISMATCH', 'What the call would do has changed since it was shown and agreed to.');
  }
  const { id: tokenId, expiresAtMs, reusable } = claims;
  const place = step === undefined ? {} : { step: { planId: step.planId, index: step.index } };
  const use = { kind: 'token', tokenId, expiresAtMs, reusable, ...place } as const;
  const basis = basisOf(effect);
  return { consent: { by: claims.issuedBy, how: 'confirm-token', atMs: claims.issuedAtMs, binding, ...basis, use } };
}

interface NextStep {
  readonly planId: string;
  readonly index: number;
  /** Of the effect as it was shown. Absent: a step before it has run and may have changed it. */
  readonly boundSha256?: string;
  readonly askedBy: readonly string[];
}

/** The step of the plan that may run now, if it is this call. */
async function nextStep(
  { planId = '', issuedAtMs }: TokenClaims,
  wanted: string,
  store: Pick<ApprovalRepository, 'findPlan'>,
  nowMs: number,
): Promise<NextStep | 'other' | 'late'> {
  const plan = await store.findPlan(planId);
  const index = plan?.approvedSteps[plan.started];
  if (plan?.status !== 'approved' || index === undefined) return 'other';
  const { callSha256: planned, boundSha256, askedBy = [], changedBy = [] } = plan.steps[index] ?? {};
  if (planned !== wanted) return 'other';
  if (nowMs - (plan.lastOutcomeAtMs ?? issuedAtMs) > stepPauseMs) return 'late';
  const begun = plan.approvedSteps.slice(0, plan.started);
  const isBound = boundSha256 !== undefined && !changedBy.some((before) => begun.includes(before));
  return { planId, index, askedBy, ...(isBound ? { boundSha256 } : {}) };
}
