import type { NetworkLog } from '@sallyport/sandbox';
import { ownText } from '../call/redacted.ts';
import { keepText } from './describe-call.ts';
import type { Payload } from './describe-call.ts';
import type { Redactor } from '../redaction/redact.ts';

const longestTarget = 300;

/** The destinations that were asked for, as a record keeps them. Programs choose these texts, so they are redacted. */
export function describeNetwork(log: NetworkLog | undefined, redactor: Redactor): Payload | undefined {
  if (log === undefined || log.isEmpty) return undefined;
  const network = log.entries.map(({ outcome, target, times }) => ({
    outcome: ownText(outcome),
    target: keepText(target, redactor, longestTarget),
    times,
  }));
  return { network, ...(Object.keys(log.beyond).length === 0 ? {} : { network_more: { ...log.beyond } }) };
}
