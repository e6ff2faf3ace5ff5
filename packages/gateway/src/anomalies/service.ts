import { AnomalyService, WatchAnomaliesResponseSchema } from '@sallyport/contract';
import { bindTools, messageOf } from '../doors/bind-tools.ts';
import type { ToolBindingParts } from '../doors/bind-tools.ts';
import { followNews } from '../doors/follow-news.ts';
import { identifyOperator } from '../doors/submit-as-operator.ts';
import type { ServiceBinding } from '../doors/transport/service-binding.ts';
import type { AnomalyRepository } from '../storage/stores.ts';
import { eventOf, unseenAnomalies } from './anomaly-news.ts';
import type { AnomalyNews, AnomalyNewsWatch } from './anomaly-news.ts';
import { describeAnomaly } from './describe-anomaly.ts';

export interface AnomalyServiceParts extends ToolBindingParts {
  readonly store: ToolBindingParts['store'] & Pick<AnomalyRepository, 'listAnomalies'>;
  readonly anomalyNews: AnomalyNewsWatch;
}

/** Where people look at anomalies: each method but the stream is the governed call of a tool. */
export function anomalyService(parts: AnomalyServiceParts): ServiceBinding {
  return bindTools(AnomalyService, ['operator-socket', 'tcp'], parts, {
    watchAnomalies: async function* (_request, peer) {
      const { store, anomalyNews } = parts;
      const news = followNews<AnomalyNews>({
        listen: (hear) => anomalyNews.listen(hear),
        idOf: ({ anomaly }) => anomaly.id,
        readPending: () => unseenAnomalies(store),
        check: () => identifyOperator(parts, peer),
        signal: peer.signal,
      });
      for await (const each of news) {
        yield messageOf(WatchAnomaliesResponseSchema, { event: eventOf(each), anomaly: describeAnomaly(each.anomaly) });
      }
    },
  });
}
