import type { RequestOf } from '@sallyport/contract/client';

/** Which anomalies are listed. It is in the address: `unseen kind:call_spike agent:scout`. */
export interface AnomalyFilter {
  readonly unseen: boolean;
  /** Empty, as below: all. */
  readonly kind: string;
  readonly agent: string;
}

export function parseAnomalyFilter(query: string): AnomalyFilter {
  const valueOf = (name: string): string => new RegExp(`(?:^|\\s)${name}:(\\S+)`).exec(query)?.[1] ?? '';
  return { unseen: /(?:^|\s)unseen(?:\s|$)/.test(query), kind: valueOf('kind'), agent: valueOf('agent') };
}

export function spellAnomalyFilter({ unseen, kind, agent }: AnomalyFilter): string {
  const words = [unseen && 'unseen', kind !== '' && `kind:${kind}`, agent.trim() !== '' && `agent:${agent.trim()}`];
  return words.filter(Boolean).join(' ');
}

/** What is not asked for is left out. */
export function requestOf({ unseen, kind, agent }: AnomalyFilter): RequestOf<'AnomalyService/ListAnomalies'> {
  return { unseen, ...(kind === '' ? {} : { kind }), ...(agent === '' ? {} : { agent }) };
}
