import { randomUUIDv7 } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Binding } from '../../approvals/bind-call.ts';
import { maskSecrets } from '../../approvals/mask-secrets.ts';
import { showArguments } from '../../approvals/show-arguments.ts';
import { countCharacters, mostOfOne } from '../../approvals/unmasked-secrets.ts';
import type { ApprovalTask } from '../../call/approval.ts';
import { refuse } from '../../call/refusal.ts';
import type { Refusal } from '../../call/refusal.ts';
import type { Context } from '../../call/stage.ts';
import type { Effect } from '../../call/tool.ts';
import type { Redactor } from '../../redaction/redact.ts';
import { needOf } from './approval-parts.ts';
import type { ApprovalNeeds, ApprovalParts } from './approval-parts.ts';

/**
 * Opens the task that asks a person, or joins the pending one. Refuses where the task that the call names was decided.
 */
export async function openApprovalTask(
  call: ApprovalNeeds,
  bound: Binding,
  effect: Effect,
  redactor: Redactor,
  parts: ApprovalParts,
  context: Context,
): Promise<Refusal> {
  const { session, verdict, approvalTaskId } = call;
  const { store } = parts;
  const named = approvalTaskId ? await store.findApproval(approvalTaskId) : undefined;
  // A task of another session looks as if it did not exist.
  const task = named?.sessionId === session.id ? named : undefined;
  if (approvalTaskId && task?.binding !== bound.binding) {
    const message = 'The approval was asked for another call, or the effect has changed since it was shown.';
    const remedy = 'Send the call without approval_task_id; a person will see the new effect.';
    return refuse('APPROVAL_MISMATCH', verdict.rule, message, { remedy });
  }
  // Asking again without naming the task opens a new one, unless the first is still pending.
  if (task !== undefined && task.status !== 'pending') return refuseDecided(task, call);
  return openTask(call, bound, effect, redactor, parts, context);
}

async function openTask(
  call: ApprovalNeeds,
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
    const message = `${maxPending} calls of this session are already waiting for a decision.`;
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
  // A joined task may be masked differently, if the gate has learned a secret since.
  const isAsMasked = isDeepStrictEqual(task.masked ?? [], view.masked);
  onPending(task, isAsMasked ? view.values : undefined);
  const alike = await store.listPendingLike(session.id, task.effectSha256);
  const outdated = alike.filter((each) => each.rulesHash !== task.rulesHash && isSameView(each, task));
  for (const each of outdated) await parts.endOutdated(each);
  const remedy = `Wait, then send the same call with approval_task_id ${task.id}; or send wait_ms to be answered when it is decided.`;
  const forOperators = `Look at it and decide with \`sallyport approvals show ${task.id}\`.`;
  return refuse('APPROVAL_REQUIRED', verdict.rule, needOf(call), { remedy, forOperators, approval: ticketOf(task) });
}

function refuseDecided(task: ApprovalTask, { verdict }: ApprovalNeeds): Refusal {
  const approval = ticketOf(task);
  const again = 'Send the call without approval_task_id to ask again.';
  switch (task.status) {
    case 'denied': {
      const said = task.note === undefined ? '' : ` They say: ${task.note}`;
      const remedy = task.note === undefined ? 'Do not repeat it; find another way.' : 'Follow the note.';
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

/** Tasks with the same view are one card for the person who decides. */
function isSameView(one: ApprovalTask, other: ApprovalTask): boolean {
  return (['tool', 'effectSha256', 'scopeSha256'] as const).every((member) => one[member] === other[member]);
}

/** Nobody can approve what nobody can be shown. */
function refuseTooLong({ verdict }: ApprovalNeeds, withheld: readonly string[]): Refusal {
  const characters = countCharacters(withheld);
  if (characters > mostOfOne) {
    const message = `${characters} characters of the effect would not fit on a card, and a person can be shown ${mostOfOne}.`;
    return refuse('ARGUMENTS_TOO_LARGE', verdict.rule, message, { remedy: 'Do it in smaller calls.' });
  }
  const message = 'Too much masked or long text already waits for a person.';
  return refuse('TOO_MANY_APPROVALS', 'pending-approvals', message, {
    remedy: 'Wait until some are decided.',
    forOperators: '`sallyport approvals watch` goes through them.',
  });
}

function ticketOf({ id: taskId, status, expiresAtMs }: ApprovalTask): NonNullable<Refusal['approval']> {
  // Neither binding nor effect: they are for the person who decides.
  return { binding: '', effect: '', taskId, status, expiresAtMs };
}
