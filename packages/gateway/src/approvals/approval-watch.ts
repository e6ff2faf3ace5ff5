import type { ApprovalTask, Plan } from '../call/approval.ts';
import { NewsWatch } from './news-watch.ts';
import type { WaitOptions } from './news-watch.ts';

/** What happened to a task. */
export interface ApprovalNews {
  /** `outdated`: it still waits, but the rules have changed, so the caller has to ask again. */
  readonly kind: 'pending' | 'reminder' | 'outdated' | 'decided' | 'expired';
  readonly task: ApprovalTask;
}

export class ApprovalWatch extends NewsWatch<ApprovalNews> {
  constructor() {
    super(({ task }) => task.id);
  }

  /** Resolves when somebody decides, nobody did in time or the rules change: true; false when the wait or the caller ends before that. */
  awaitEnd(taskId: string, options: WaitOptions): Promise<boolean> {
    return this.awaitNews(taskId, ({ kind }) => kind !== 'pending' && kind !== 'reminder', options);
  }
}

/** What happened to a plan. */
export interface PlanNews {
  readonly kind: 'pending' | 'decided' | 'expired';
  readonly plan: Plan;
}

export class PlanWatch extends NewsWatch<PlanNews> {
  constructor() {
    super(({ plan }) => plan.id);
  }

  /** As for approvals. */
  awaitEnd(planId: string, options: WaitOptions): Promise<boolean> {
    return this.awaitNews(planId, ({ kind }) => kind !== 'pending', options);
  }
}
