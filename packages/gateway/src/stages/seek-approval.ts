import { bindCall } from '../approvals/bind-call.ts';
import { maskSecrets } from '../approvals/mask-secrets.ts';
import type { SecretMarker } from '../approvals/mask-secrets.ts';
import type * as facts from '../call/call.ts';
import { isRefusal, refuse } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import type { Context, Stage } from '../call/stage.ts';
import { ToolFailure } from '../call/tool.ts';
import type { Effect, ToolDefinition } from '../call/tool.ts';
import type { ToolContextFactory } from '../execution/tool-context.ts';
import type { Redactor } from '../redaction/redact.ts';
import { basisOf, needOf } from './approval/approval-parts.ts';
import type { ApprovalNeeds, ApprovalParts } from './approval/approval-parts.ts';
import { mayTellFailure } from './approval/may-tell-failure.ts';
import { openApprovalTask } from './approval/open-approval-task.ts';
import { joinConsents, useApproved, useStanding } from './approval/use-approvals.ts';
import { useConfirmToken } from './approval/use-confirm-token.ts';
import { previewEffect, refuseUnshown, shownEffect } from './preview-effect.ts';

/**
 * If the verdict requires a person, shows the effect, and lets the call through only with a decision about exactly this
 * call and this effect. Operators confirm their own calls; for an agent's call, a task waits for a person.
 */
export function seekApproval(
  createContext: ToolContextFactory,
  redactor: Redactor,
  parts: ApprovalParts,
  /**
   * The tool that reads files: the caller may know about files that they may read with it. Undefined: there is none.
   */
  findReading: () => ToolDefinition | undefined,
): Stage<ApprovalNeeds, facts.Consented> {
  return {
    name: 'seek-approval',
    run: (call, context) => {
      const { verdict, session, reused, confirmToken } = call;
      // A step of a plan is counted also where no consent is needed: the steps after it wait for it.
      const isAsked = verdict.effect === 'require_approval' || (confirmToken && session.principal === 'agent');
      if (!isAsked || reused !== undefined) return undefined;
      return findConsent(call, context).then((found) => {
        if (isRefusal(found)) return found;
        call.consent = found.consent;
        return undefined;
      });
    },
  };

  async function findConsent(call: ApprovalNeeds, context: Context): Promise<facts.Consented | Refusal> {
    const { session, confirmToken } = call;
    const effect = await previewEffect(call, createContext);
    // Nobody is asked about a call that another gate refuses.
    if (isRefusal(effect)) return effect;
    if (session.principal === 'operator') return confirmOwn(call, effect, redactor, context);
    // Nor about a call that will fail. A call that names a decision is answered about that decision, and a step of a
    // plan may fail.
    const isNew = !confirmToken && !call.approvalTaskId;
    if (effect instanceof ToolFailure && isNew && mayTellFailure(call, effect, findReading())) return willFail(effect);
    const shown = shownEffect(effect, call);
    const unshown = refuseUnshown(shown);
    if (unshown !== undefined) return unshown;
    const bound = bindCall(call, shown);
    return (
      (await useConfirmToken(call, bound, shown, parts, context)) ??
      joinConsents(await useApproved(call, bound, shown, parts, context), useStanding(call, bound, parts, context)) ??
      (await openApprovalTask(call, bound, shown, redactor, parts, context))
    );
  }
}

function confirmOwn(
  call: ApprovalNeeds,
  effect: Effect | ToolFailure,
  redactor: Redactor,
  context: Context,
): facts.Consented | Refusal {
  if (effect instanceof ToolFailure) return unclear(call, effect);
  const { verdict, session } = call;
  const { binding } = bindCall(call, effect);
  if (call.confirmBinding === binding) {
    const shown = basisOf(effect);
    return { consent: { by: session.agent, how: 'own-call-confirmed', atMs: context.nowMs(), binding, ...shown } };
  }
  // Text that only looks like a secret is shown: it is the operator's own call, and the text is not stored.
  const marker: SecretMarker = { markSecrets: (text, writeMark) => redactor.markHeldSecrets(text, writeMark) };
  const [shown = ''] = maskSecrets([textOf(effect)], marker, Infinity).texts;
  const approval = { binding, effect: shown };
  if (call.confirmBinding !== '') {
    const message = 'The confirmation was given for another call, or the effect has changed since it was shown.';
    return refuse('APPROVAL_MISMATCH', verdict.rule, message, { remedy: 'Look at the effect again.', approval });
  }
  return refuse('APPROVAL_REQUIRED', verdict.rule, needOf(call), {
    remedy: 'Run it at a terminal, where you see its effect and confirm it. For scripts most commands take --yes.',
    approval,
  });
}

function willFail(failure: ToolFailure): Refusal {
  return refuseAs(failure, 'The call would fail, so nobody was asked about it.');
}

function unclear({ tool }: ApprovalNeeds, failure: ToolFailure): Refusal {
  return refuseAs(failure, `The effect of ${tool.definition.name} could not be worked out.`);
}

function refuseAs({ code, message, forOperators }: ToolFailure, remedy: string): Refusal {
  return refuse(code, 'preview', message, {
    remedy,
    ...(forOperators === undefined ? {} : { forOperators: `${remedy} ${forOperators}` }),
  });
}

function textOf({ summary, detail }: Effect): string {
  return `${summary}\n${detail}`.trimEnd();
}
