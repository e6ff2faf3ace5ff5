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
    Pick<ApprovalRepository, 'listApprovals' | 'listPlans'> &
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
    watchApprovals: async function* ({ withPlans, withAnomalies }, peer) {
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
        idOf: (each) => ('task' in each ? each.task : 'plan' in each ? each.plan : each.anomaly).id,
        readPending: async function* () {
          yield* pendingApprovals(store);
          if (withPlans) yield* pendingPlans(store);
          if (withAnomalies) yield* unseenAnomalies(store);
        },
        check: () => identifyOperator(parts, peer),
        signal: peer.signal,
      });
      for await (const each of news) yield tell(each, showing);
    },
  });
}

async function* pendingApprovals(store: ApprovalServiceParts['store']): AsyncGenerator<ApprovalNews> {
  const tasks = await store.listApprovals({ status: 'pending', limit: mostPending });
  for (const task of tasks.toReversed()) yield { kind: 'pending', task };
}

type News = ApprovalNews | PlanNews | AnomalyNews;

function tell(news: News, showing: Showing): WatchApprovalsResponse {
  if ('anomaly' in news) {
    return messageOf(WatchApprovalsResponseSchema, { event: eventOf(news), anomaly: describeAnomaly(news.anomaly) });
  }
  const about =
    'task' in news
      ? { approval: describeWholeTask(news.task, showing) }
      : { plan: describePlan(news.plan, { ...showing, nowMs: Date.now(), forPerson: true }) };
  return messageOf(WatchApprovalsResponseSchema, { event: news.kind, ...about });
}
