import type { JsonObject } from '@sallyport/contract';
import type { ApprovalTask, Plan } from '../../model/approval.ts';
import { makeVisibleLine } from '../visible-text.ts';
import type { NoticeEvent } from './notification-settings.ts';

/** Something that people should hear of. */
export interface Notice {
  /** The same for the same thing, however often it is told. */
  readonly id: string;
  readonly event: NoticeEvent;
  /** One line. */
  readonly title: string;
  readonly text: string;
  /** When it is too late to tell anybody. */
  readonly untilMs: number;
  /** For programs. The effect is not in it: it is read where decisions are made. */
  readonly body: JsonObject;
}

const longestLine = 300;

export function noticeOfTask(event: NoticeEvent, task: ApprovalTask, link: string): Notice {
  const title = clip(`${event === 'reminder' ? 'Still waiting: ' : ''}${task.agent} asks for ${task.tool}`);
  return {
    id: `${task.id}.${event}`,
    event,
    title,
    text: clip(task.title),
    untilMs: untilOf(event, task.expiresAtMs),
    body: {
      type: `approval.${event}`,
      task_id: task.id,
      agent: clip(task.agent),
      tool: task.tool,
      risk: task.risk,
      title: clip(task.title),
      reason: clip(task.reason),
      status: task.status,
      ...(task.decidedBy === undefined ? {} : { decided_by: task.decidedBy }),
      created_at: new Date(task.createdAtMs).toISOString(),
      expires_at: new Date(task.expiresAtMs).toISOString(),
      link,
    },
  };
}

export function noticeOfPlan(event: 'pending' | 'decided', plan: Plan, link: string): Notice {
  return {
    id: `${plan.id}.${event}`,
    event,
    title: clip(`${plan.agent} proposes a plan of ${plan.steps.length} steps`),
    text: clip(plan.summary),
    untilMs: untilOf(event, plan.expiresAtMs),
    body: {
      type: `plan.${event}`,
      plan_id: plan.id,
      agent: clip(plan.agent),
      summary: clip(plan.summary),
      steps: plan.steps.length,
      status: plan.status,
      ...(plan.decidedBy === undefined ? {} : { decided_by: plan.decidedBy }),
      created_at: new Date(plan.createdAtMs).toISOString(),
      expires_at: new Date(plan.expiresAtMs).toISOString(),
      link,
    },
  };
}

/** Nobody needs to hear that something waits once it does not wait any more; how it ended is news for longer. */
function untilOf(event: NoticeEvent, expiresAtMs: number): number {
  return event === 'pending' || event === 'reminder' ? expiresAtMs : expiresAtMs + 3_600_000;
}

function clip(text: string): string {
  const line = makeVisibleLine(text);
  return line.length <= longestLine ? line : `${line.slice(0, longestLine).toWellFormed()}…`;
}
