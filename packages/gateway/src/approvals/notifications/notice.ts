import type { Abuse, Anomaly, AnomalyResponse } from '../../call/anomaly.ts';
import type { ApprovalTask, Plan } from '../../call/approval.ts';
import { cutText } from '../../call/redacted.ts';
import type { RedactText } from '../../call/redacted.ts';
import { priorityOf } from '../priority.ts';
import type { PlanNews } from '../approval-watch.ts';
import { makeVisibleLine, spellCount } from '@sallyport/contract';
import type { NoticeEvent } from './notification-settings.ts';
import type { WebhookMessage } from './webhook.ts';

/** A message for people. The effect is not in its body: it is read where decisions are made. */
export interface Notice extends WebhookMessage {
  readonly event: NoticeEvent;
  /** One line. */
  readonly title: string;
  readonly text: string;
}

const longestLine = 300;

export function noticeOfTask(event: NoticeEvent, task: ApprovalTask, link: string, redact: RedactText): Notice {
  const title = clip(`${event === 'reminder' ? 'Still waiting: ' : ''}${task.agent} asks for ${task.tool}`, redact);
  return {
    id: `${task.id}.${event}`,
    event,
    title,
    text: clip(task.title, redact),
    untilMs: untilOf(event, task.expiresAtMs),
    body: {
      type: `approval.${event}`,
      task_id: task.id,
      agent: clip(task.agent, redact),
      tool: clip(task.tool, redact),
      risk: task.risk,
      priority: priorityOf(task.risk),
      created_by: clip(task.agent, redact),
      ...(task.assignedTo === undefined ? {} : { assigned_to: clip(task.assignedTo, redact) }),
      title: clip(task.title, redact),
      reason: clip(task.reason, redact),
      status: task.status,
      ...(task.decidedBy === undefined ? {} : { decided_by: task.decidedBy }),
      ...(task.decidedByAgent === undefined ? {} : { decided_by_agent: true }),
      created_at: new Date(task.createdAtMs).toISOString(),
      expires_at: new Date(task.expiresAtMs).toISOString(),
      link,
    },
  };
}

export function noticeOfPlan(event: PlanNews['kind'], plan: Plan, link: string, redact: RedactText): Notice {
  return {
    id: `${plan.id}.${event}`,
    event,
    title: clip(`${plan.agent} proposes a plan of ${spellCount(plan.steps.length, 'step')}`, redact),
    text: `It says: “${clip(plan.summary, redact)}”`,
    untilMs: untilOf(event, plan.expiresAtMs),
    body: {
      type: `plan.${event}`,
      plan_id: plan.id,
      agent: clip(plan.agent, redact),
      summary: clip(plan.summary, redact),
      steps: plan.steps.length,
      status: plan.status,
      ...(plan.decidedBy === undefined ? {} : { decided_by: plan.decidedBy }),
      created_at: new Date(plan.createdAtMs).toISOString(),
      expires_at: new Date(plan.expiresAtMs).toISOString(),
      link,
    },
  };
}

/** `senior`: whom it is for. Undefined: the directors. */
export function noticeOfAbuse(
  abuse: Abuse,
  senior: string | undefined,
  link: string,
  nowMs: number,
  redact: RedactText,
): Notice {
  const { kind, sessionId, tool, rule, refusals } = abuse;
  const agent = clip(abuse.agent, redact);
  const isOver = kind === 'session_quarantined';
  return {
    id: `${sessionId}.${kind}.${nowMs}`,
    event: 'abuse',
    title: isOver ? `${agent} was put into quarantine` : `${agent} goes on against its limits`,
    text: isOver
      ? `Its session broke the rules too often; the last call was to ${clip(tool, redact)}.`
      : `${spellCount(refusals, 'call was', 'calls were')} refused within ten minutes, the last one to ${clip(tool, redact)}.`,
    untilMs: nowMs + 3_600_000,
    body: {
      type: `abuse.${kind}`,
      session_id: sessionId,
      agent,
      tool: clip(tool, redact),
      rule: clip(rule, redact),
      ...(isOver ? {} : { refusals }),
      for: senior ?? 'directors',
      created_at: new Date(nowMs).toISOString(),
      link,
    },
  };
}

/** The calls behind it are not in its body: they are looked at in the console. */
export function noticeOfAnomaly(anomaly: Anomaly, link: string, redact: RedactText): Notice {
  const { id, kind, detail, sessionId, beganAtMs, senior, done } = anomaly;
  const agent = anomaly.agent === '' ? 'Somebody without a valid credential' : clip(anomaly.agent, redact);
  const summary = clip(anomaly.summary, redact);
  return {
    id: `${id}.anomaly`,
    event: 'anomaly',
    title: `${agent}: ${kind.replaceAll('_', ' ')}`,
    text: [summary, ...done.map((each) => spelledResponses[each])].join(' '),
    untilMs: beganAtMs + 3_600_000,
    body: {
      type: `anomaly.${kind}`,
      anomaly_id: id,
      agent: clip(anomaly.agent, redact),
      session_id: sessionId,
      ...(detail === '' ? {} : { detail }),
      summary,
      done,
      for: senior === '' ? 'directors' : clip(senior, redact),
      created_at: new Date(beganAtMs).toISOString(),
      link,
    },
  };
}

const spelledResponses: Readonly<Record<AnomalyResponse, string>> = {
  quarantine: 'Its session was put into quarantine.',
  raise_mode: 'The mode was raised to ALERT.',
};

/** Nobody needs to hear that something waits once it does not wait any more; how it ended is news for longer. */
function untilOf(event: NoticeEvent, expiresAtMs: number): number {
  return event === 'pending' || event === 'reminder' ? expiresAtMs : expiresAtMs + 3_600_000;
}

function clip(text: string, redact: RedactText): string {
  const shown = redact(text);
  const line = makeVisibleLine(cutText(shown, longestLine));
  return shown.length <= longestLine ? line : `${line}…`;
}
