import { randomUUIDv7 } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { bindCall, bindEffect, callSha256 } from '../approvals/bind-call.ts';
import type { Binding } from '../approvals/bind-call.ts';
import type { ConfirmTokens, TokenClaims } from '../approvals/confirm-tokens.ts';
import { maskSecrets } from '../approvals/mask-secrets.ts';
import type { SecretMarker } from '../approvals/mask-secrets.ts';
import { countCharacters, mostOfOne } from '../approvals/unmasked-secrets.ts';
import { showArguments } from '../approvals/show-arguments.ts';
import type { Redactor } from '../redaction/redact.ts';
import type { ToolContextFactory } from '../execution/tool-context.ts';
import type { ApprovalTask, ApproverRole } from '../call/approval.ts';
import type * as facts from '../call/call.ts';
import { isRefusal, refuse } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import type { Session } from '../call/session.ts';
import { ToolFailure } from '../call/tool.ts';
import type { Effect, Risk, ToolDefinition } from '../call/tool.ts';
import type { Context, Stage } from '../call/stage.ts';
import type { ApprovalRepository, Snapshot } from '../storage/stores.ts';
import { mayTellFailure } from './may-tell-failure.ts';
import { previewEffect, refuseUnshown, shownEffect } from './preview-effect.ts';

type Needs = facts.Begun &
  facts.Decoded &
  facts.Opened &
  facts.Resolved &
  facts.ArgumentsChecked &
  facts.Leased &
  facts.Permitted &
  facts.ModeRead &
  facts.Judged &
  facts.ReuseChecked;

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
   * Called with each task that waits for a decision, new or joined, and what the marks in its view stand for. Undefined: what
   * they stood for when it was opened.
   */
  readonly onPending: (task: ApprovalTask, secrets: readonly string[] | undefined) => void;
  /** Ends a task that was asked under other rules, because the same was asked again. */
  readonly endOutdated: (task: ApprovalTask) => Promise<void>;
  /** Whether so much that is masked or too long for a card can be kept until somebody looks, for a new task or this one. */
  readonly hasRoom: (characters: number, taskId: string | undefined) => boolean;
}

/** How long after the step before it a step of a plan may begin. */
const stepPauseMs = 60_000;
const clockToleranceMs = 60_000;

/**
 * Where the verdict asks for a person: shows the effect, and lets through only what a person decided about exactly this
 * call and this effect. An operator confirms a call of their own; for an agent's call a task waits for somebody else.
 */
export function seekApproval(
  createContext: ToolContextFactory,
  redactor: Redactor,
  parts: ApprovalParts,
  /** The tool that reads files: what it may read, the caller may know. Undefined: there is no such tool. */
  findReading: () => ToolDefinition | undefined,
): Stage<Needs, facts.Consented> {
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

  async function findConsent(call: Needs, context: Context): Promise<facts.Consented | Refusal> {
    const { session, confirmToken } = call;
    const effect = await previewEffect(call, createContext);
    // Nobody is asked about what another gate refuses.
    if (isRefusal(effect)) return effect;
    if (session.principal === 'operator') return confirmOwn(call, effect, redactor, context);
    // Nor about what will fail. Where a decision is named, the answer is about that; a step of a plan may fail as made.
    const isNew = !confirmToken && !call.approvalTaskId;
    if (effect instanceof ToolFailure && isNew && mayTellFailure(call, effect, findReading())) return willFail(effect);
    const shown = shownEffect(effect, call);
    const unshown = refuseUnshown(shown);
    if (unshown !== undefined) return unshown;
    const bound = bindCall(call, shown);
    return (
      (await useToken(call, bound, shown, parts, context)) ??
      joinConsents(await useApproved(call, bound, shown, parts, context), useStanding(call, bound, parts, context)) ??
      (await useTask(call, bound, shown, redactor, parts, context))
    );
  }
}

function confirmOwn(
  call: Needs,
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
  // What merely looks like a secret is shown: it is a call of their own, and nothing of it is written down.
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

function unclear({ tool }: Needs, failure: ToolFailure): Refusal {
  return refuseAs(failure, `The effect of ${tool.definition.name} could not be worked out.`);
}

function refuseAs({ code, message, forOperators }: ToolFailure, remedy: string): Refusal {
  return refuse(code, 'preview', message, {
    remedy,
    ...(forOperators === undefined ? {} : { forOperators: `${remedy} ${forOperators}` }),
  });
}

/** Undefined when the call brings no token. */
async function useToken(
  call: Needs,
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
    return no('APPROVAL_MISMATCH', 'A rule asks about the call that did not ask when it was agreed to.');
  }
  const shown = step === undefined ? claims.effects?.[claims.calls.indexOf(wanted)] : step.boundSha256;
  if (shown !== undefined && shown !== bindEffect(effect)) {
    // What it was used for changed the effect.
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

/** A consent that was given beforehand answers the rules that asked then. Another one may look at what was done since. */
function isAnswered({ verdict: { askedBy = [] } }: Needs, answered: readonly string[]): boolean {
  return askedBy.every((rule) => answered.includes(rule));
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

/**
 * Of several calls at once, each sees the same approvals, and each is used as often as it was given. Who named one means
 * that one; everybody else takes the next. Undefined when there is no approval.
 */
function joinConsents(
  approved: facts.Consented | undefined,
  standing: readonly facts.Consent[],
): facts.Consented | undefined {
  const consents = [...(approved?.consent === undefined ? [] : [approved.consent]), ...standing];
  const consent = consents.reduceRight<facts.Consent | undefined>(
    (otherwise, each) => (otherwise === undefined ? each : { ...each, otherwise }),
    undefined,
  );
  return consent === undefined ? undefined : { consent };
}

/** Empty when no standing approval fits, or when the call names a task. */
function useStanding(
  call: Needs,
  { binding, scopeSha256 }: Binding,
  { store }: ApprovalParts,
  context: Context,
): readonly facts.Consent[] {
  const { session, tool, rules, mode, approvalTaskId } = call;
  if (approvalTaskId) return [];
  return store
    .listStanding({ sessionId: session.id, nowMs: context.nowMs() })
    .filter(
      (each) =>
        each.tool === tool.definition.name &&
        each.rulesHash === rules.hash &&
        each.mode === mode &&
        isAnswered(call, each.askedBy ?? []) &&
        (each.scopeSha256 === undefined || each.scopeSha256 === scopeSha256),
    )
    .map(({ id: standingId, grantedBy: by, grantedAtMs: atMs }) => {
      const use = { kind: 'standing', standingId } as const;
      return { by, how: 'standing-approval', atMs, binding, use };
    });
}

/** Undefined when nobody has approved exactly this call, or what they approved has run. */
async function useApproved(
  { session, approvalTaskId }: Needs,
  { binding }: Binding,
  effect: Effect,
  { store, limits }: ApprovalParts,
  context: Context,
): Promise<facts.Consented | undefined> {
  const task = await (approvalTaskId
    ? store.findApproval(approvalTaskId)
    : store.findApprovalByBinding(session.id, binding));
  if (task?.sessionId !== session.id || task.binding !== binding || task.status !== 'approved') return undefined;
  // Who agreed an hour ago may think otherwise now. A decision of the future means that the clock was moved back.
  const ageMs = context.nowMs() - (task.decidedAtMs ?? 0);
  return ageMs >= -clockToleranceMs && ageMs <= limits().expireAfterMs ? consentOf(task, effect) : undefined;
}

async function useTask(
  call: Needs,
  bound: Binding,
  effect: Effect,
  redactor: Redactor,
  parts: ApprovalParts,
  context: Context,
): Promise<facts.Consented | Refusal> {
  const { session, verdict, approvalTaskId } = call;
  const { store } = parts;
  const named = approvalTaskId ? await store.findApproval(approvalTaskId) : undefined;
  // A task of another session looks like none.
  const task = named?.sessionId === session.id ? named : undefined;
  if (approvalTaskId && task?.binding !== bound.binding) {
    const message = 'The approval was asked for another call, or the effect has changed since it was shown.';
    const remedy = 'Send the call without approval_task_id; a person will see the new effect.';
    return refuse('APPROVAL_MISMATCH', verdict.rule, message, { remedy });
  }
  // Asking again without naming the task begins anew, unless somebody is still thinking about it.
  if (task !== undefined && task.status !== 'pending') return refuseDecided(task, call);
  return openTask(call, bound, effect, redactor, parts, context);
}

function consentOf(task: ApprovalTask, effect: Effect): facts.Consented {
  const { id: taskId, binding, decidedBy = '', decidedByAgent, decidedAtMs = 0 } = task;
  const use = { kind: 'task', taskId, binding } as const;
  const how = decidedByAgent ? 'approved-by-agent' : 'approved';
  return { consent: { by: decidedBy, how, atMs: decidedAtMs, binding, ...basisOf(effect), use } };
}

/** The binding covers it, so that it is the basis of the effect that was shown. */
function basisOf({ basis }: Effect): Pick<facts.Consent, 'basis'> {
  return basis === undefined ? {} : { basis };
}

function refuseDecided(task: ApprovalTask, { verdict }: Needs): Refusal {
  const approval = ticketOf(task);
  const again = 'Send the call without approval_task_id to ask again.';
  switch (task.status) {
    case 'denied': {
      const said = task.note === undefined ? '' : ` They say: ${task.note}`;
      const remedy = task.note === undefined ? 'Do not repeat it; find another way.' : 'Do as they say.';
      const who = `${task.decidedByAgent ? 'Agent ' : ''}${task.decidedBy}`;
      return refuse('APPROVAL_DENIED', verdict.rule, `${who} decided against the call.${said}`, { remedy, approval });
    }
    case 'approved':
      return refuse('APPROVAL_EXPIRED', verdict.rule, 'The approval was given too long ago.', {
        remedy: again,
        approval,
      });
    case 'expired':
      return refuse('APPROVAL_EXPIRED', verdict.rule, 'Nobody decided in time.', { remedy: again, approval });
    default:
      return refuse('APPROVAL_USED', verdict.rule, 'This approval was used before: one decision is one run.', {
        remedy: again,
        approval,
      });
  }
}

async function openTask(
  call: Needs,
  bound: Binding,
  effect: Effect,
  redactor: Redactor,
  parts: ApprovalParts,
  context: Context,
): Promise<Refusal> {
  const { store, routeApproval, limits, onPending, hasRoom } = parts;
  const { session, tool, verdict } = call;
  const { name, version, risk } = tool.definition;
  const { expireAfterMs, remindAfterMs, maxPending } = limits();
  const approverRole = routeApproval(session, risk);
  if (approverRole === undefined) {
    return refuse('NO_APPROVER', verdict.rule, `${needOf(call)} Nobody can decide about it.`, {
      forOperators: 'Name a senior for the agent, or a director.',
    });
  }
  const latest = await store.findApprovalByBinding(session.id, bound.binding);
  const same = latest?.status === 'pending' ? latest : undefined;
  if (same === undefined && (await store.countPending(session.id, maxPending)) >= maxPending) {
    const message = `${maxPending} calls of this session wait for a decision already.`;
    return refuse('TOO_MANY_APPROVALS', 'pending-approvals', message, {
      remedy: 'Wait until some are decided.',
      forOperators: '`sallyport approvals watch` goes through them.',
    });
  }
  const nowMs = context.nowMs();
  const view = maskSecrets([effect.summary, effect.detail], redactor);
  const [title = '', detail = ''] = view.texts;
  if (!hasRoom(countCharacters(view.values), same?.id)) return refuseTooLong(call, view.values);
  const task = await store.openApproval({
    id: randomUUIDv7(),
    sessionId: session.id,
    agent: session.agent,
    callId: call.callId,
    traceId: call.traceId,
    requestId: call.requestId,
    tool: name,
    toolVersion: version,
    ...bound,
    title,
    shownArguments: showArguments(call, redactor),
    effect: detail,
    ...(view.masked.length === 0 ? {} : { masked: view.masked }),
    undoable: effect.undoable,
    risk,
    ruleId: verdict.rule.id,
    reason: verdict.reason,
    ...(verdict.askedBy === undefined ? {} : { askedBy: verdict.askedBy }),
    rulesHash: call.rules.hash,
    mode: call.mode,
    approverRole,
    assignedTo: parts.assigneeOf(session.agent, approverRole),
    ...(verdict.approvers === undefined ? {} : { approvers: verdict.approvers }),
    ...(call.correlationId === '' ? {} : { correlationId: redactor.redactText(call.correlationId) }),
    createdAtMs: nowMs,
    remindAtMs: nowMs + remindAfterMs,
    expiresAtMs: nowMs + expireAfterMs,
  });
  // A task that was joined may be masked in another way, if the gate has learned a secret since.
  const isAsMasked = isDeepStrictEqual(task.masked ?? [], view.masked);
  onPending(task, isAsMasked ? view.values : undefined);
  const alike = await store.listPendingLike(session.id, task.effectSha256);
  const outdated = alike.filter((each) => each.rulesHash !== task.rulesHash && isSameView(each, task));
  for (const each of outdated) await parts.endOutdated(each);
  const remedy = `Wait, then send the same call with approval_task_id ${task.id}; or send wait_ms to be answered when it is decided.`;
  const forOperators = `Look at it and decide with \`sallyport approvals show ${task.id}\`.`;
  return refuse('APPROVAL_REQUIRED', verdict.rule, needOf(call), { remedy, forOperators, approval: ticketOf(task) });
}

/** To the person who decides they are one card. */
function isSameView(one: ApprovalTask, other: ApprovalTask): boolean {
  return (['tool', 'effectSha256', 'scopeSha256'] as const).every((member) => one[member] === other[member]);
}

/** Nobody can approve what nobody can be shown. */
function refuseTooLong({ verdict }: Needs, withheld: readonly string[]): Refusal {
  const characters = countCharacters(withheld);
  if (characters > mostOfOne) {
    const message = `${characters} characters of the effect would not fit on a card, and a person can be shown ${mostOfOne}.`;
    return refuse('ARGUMENTS_TOO_LARGE', verdict.rule, message, { remedy: 'Do it in smaller calls.' });
  }
  const message = 'Too much waits to be looked at already.';
  return refuse('TOO_MANY_APPROVALS', 'pending-approvals', message, {
    remedy: 'Wait until some are decided.',
    forOperators: '`sallyport approvals watch` goes through them.',
  });
}

function ticketOf({ id: taskId, status, expiresAtMs }: ApprovalTask): NonNullable<Refusal['approval']> {
  // Neither binding nor effect: they are for the person who decides.
  return { binding: '', effect: '', taskId, status, expiresAtMs };
}

function needOf({ tool, verdict }: Needs): string {
  return `${tool.definition.name} needs a person's approval: ${verdict.reason}`;
}

function textOf({ summary, detail }: Effect): string {
  return `${summary}\n${detail}`.trimEnd();
}
