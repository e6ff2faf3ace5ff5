import type { ApprovalTask, Plan } from '../call/approval.ts';
import { NewsWatch } from './news-watch.ts';
import type { WaitOptions } from './news-watch.ts';

/** What happened to a task. */
export interface ApprovalNews {
  /** `outdated`: it waits still, but the rules have changed, so that whoever asked has to ask again. */
  readonly kind: 'pending' | 'reminder' | 'outdated' | 'decided' | 'expired';
  readonly task: ApprovalTask;
}

export class ApprovalWatch extends NewsWatch<ApprovalNews> {
  /** Resolves when somebody decides, nobody did in time or the rules change: true; false when the wait or the caller ends before that. */
  awaitEnd(taskId: string, options: WaitOptions): Promise<boolean> {
    return this.awaitNews(
      ({ kind, task }) => task.id === taskId && ['decided', 'expired', 'outdated'].includes(kind),
      options,
    );
  }
}

/** What happened to a plan. */
export interface PlanNews {
  readonly kind: 'pending' | 'decided' | 'expired';
  readonly plan: Plan;
}

export class PlanWatch extends NewsWatch<PlanNews> {
  /** As for approvals. */
  awaitEnd(planId: string, options: WaitOptions): Promise<boolean> {
    return this.awaitNews(({ kind, plan }) => plan.id === planId && kind !== 'pending', options);
  }
}
