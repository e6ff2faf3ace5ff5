import { ApprovalService, WatchApprovalsResponseSchema } from '@sallyport/contract';
import type { WatchApprovalsResponse } from '@sallyport/contract';
import type { ApprovalNews, ApprovalWatch, PlanNews, PlanWatch } from './approval-watch.ts';
import type { AnomalyRepository, ApprovalRepository } from '../storage/stores.ts';
import { describePlan, describeWholeTask } from './tools/describe-approval.ts';
import type { Showing } from './tools/describe-approval.ts';
import { bindTools, messageOf } from '../doors/bind-tools.ts';
import type { ToolBindingParts } from '../doors/bind-tools.ts';
import { followNews } from '../doors/follow-news.ts';
import { identifyOperator } from '../doors/submit-as-operator.ts';
import type { ServiceBinding } from '../doors/transport/service-binding.ts';
import { pendingPlans } from './plan-service.ts';
import { eventOf, unseenAnomalies } from '../anomalies/anomaly-news.ts';
import type { AnomalyNews, AnomalyNewsWatch } from '../anomalies/anomaly-news.ts';
import { describeAnomaly } from '../anomalies/describe-anomaly.ts';

export interface ApprovalServiceParts extends ToolBindingParts {
  readonly store: ToolBindingParts['store'] &
    Pick<ApprovalRepository, 'listApprovalsAfter' | 'countAllPending' | 'listPlans'> &
    Pick<AnomalyRepository, 'listAnomalies'>;
  readonly watch: ApprovalWatch;
  readonly plans: PlanWatch;
  readonly anomalyNews: AnomalyNewsWatch;
  /** How people are shown what waits. */
  readonly showing: Showing;
}

/** All that can wait, in practice. */
const mostPending = 20_000;

/** Where people decide: each method is the governed call of a tool. For operators, at any door of theirs. */
export function approvalService(parts: ApprovalServiceParts): ServiceBinding {
  return bindTools(ApprovalService, ['operator-socket', 'tcp'], parts, {
    watchApprovals: async function* ({ withPlans, withAnomalies, mostPending: most }, peer) {
      const { store, watch, plans, anomalyNews, showing } = parts;
      const news = followNews<News>({
        listen: (hear) => {
          const stops = [
            watch.listen(hear),
            ...(withPlans ? [plans.listen(hear)] : []),
            ...(withAnomalies ? [anomalyNews.listen(hear)] : []),
          ];
          return () => stops.forEach((stop) => stop());
        },
        idOf: (each) => (each.kind === 'listed' ? '' : subjectOf(each).id),
        readPending: async function* () {
          yield* pendingApprovals(store, most === 0 ? mostPending : Math.min(most, mostPending));
          if (withPlans) yield* pendingPlans(store);
          if (withAnomalies) yield* unseenAnomalies(store);
          if (most > 0) yield { kind: 'listed', pendingApprovals: await store.countAllPending(mostPending) };
        },
        check: () => identifyOperator(parts, peer),
        signal: peer.signal,
      });
      for await (const each of news) yield tell(each, showing);
    },
  });
}

async function* pendingApprovals(store: ApprovalServiceParts['store'], limit: number): AsyncGenerator<ApprovalNews> {
  const tasks = await store.listApprovalsAfter({ status: 'pending', limit });
  for (const task of tasks) yield { kind: 'pending', task };
}

/** Everything that was there has been told, or as much of it as was wanted. */
interface Listed {
  readonly kind: 'listed';
  readonly pendingApprovals: number;
}

type News = ApprovalNews | PlanNews | AnomalyNews | Listed;

function subjectOf(news: Exclude<News, Listed>): { readonly id: string } {
  return 'task' in news ? news.task : 'plan' in news ? news.plan : news.anomaly;
}

function tell(news: News, showing: Showing): WatchApprovalsResponse {
  if (news.kind === 'listed') {
    return messageOf(WatchApprovalsResponseSchema, { event: news.kind, pendingApprovals: news.pendingApprovals });
  }
  if ('anomaly' in news) {
    return messageOf(WatchApprovalsResponseSchema, { event: eventOf(news), anomaly: describeAnomaly(news.anomaly) });
  }
  const about =
    'task' in news
      ? { approval: describeWholeTask(news.task, showing) }
      : { plan: describePlan(news.plan, { ...showing, nowMs: Date.now(), forPerson: true }) };
  return messageOf(WatchApprovalsResponseSchema, { event: news.kind, ...about });
}
