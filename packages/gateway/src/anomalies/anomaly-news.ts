import { NewsWatch } from '../approvals/news-watch.ts';
import type { Anomaly } from '../call/anomaly.ts';
import type { AnomalyRepository } from '../storage/stores.ts';

/** What happened to an anomaly. `pending`: nobody has seen it yet. */
export interface AnomalyNews {
  readonly kind: 'pending' | 'seen';
  readonly anomaly: Anomaly;
}

export class AnomalyNewsWatch extends NewsWatch<AnomalyNews> {
  constructor() {
    super(({ anomaly }) => anomaly.id);
  }
}

/** As the wire names it. */
export function eventOf({ kind }: AnomalyNews): 'unseen' | 'seen' {
  return kind === 'pending' ? 'unseen' : 'seen';
}

const mostListed = 1000;

/** Oldest first. */
export async function* unseenAnomalies(store: Pick<AnomalyRepository, 'listAnomalies'>): AsyncGenerator<AnomalyNews> {
  const unseen = await store.listAnomalies({ unseen: true, limit: mostListed });
  for (const anomaly of unseen.toReversed()) yield { kind: 'pending', anomaly };
}
