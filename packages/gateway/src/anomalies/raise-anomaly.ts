import type { Anomaly, AnomalyResponse, NewAnomaly } from '../call/anomaly.ts';
import { ownText, say } from '../call/redacted.ts';
import type { RedactText } from '../call/redacted.ts';
import { isRefusal } from '../call/refusal.ts';
import type { AnomalyPolicy, Limits } from '../call/verdict.ts';
import type { ModeAuthority } from '../modes/mode-authority.ts';
import type { AnomalyRepository } from '../storage/stores.ts';
import type { Sighting } from './anomaly-detector.ts';
import type { AnomalyNewsWatch } from './anomaly-news.ts';
import { describeCalls, nobody, summarize } from './describe-anomaly.ts';

export interface RaiseParts {
  readonly store: Pick<AnomalyRepository, 'openAnomaly' | 'noteResponse' | 'noteAnomalyTold'>;
  readonly authority: Pick<ModeAuthority, 'current' | 'change'>;
  readonly quarantine: () => Limits['quarantine'];
  /** Undefined: none is named, and it is for the directors. */
  readonly seniorOf: (agent: string) => string | undefined;
  readonly redact: RedactText;
  readonly news: AnomalyNewsWatch;
  /** Notifies people. Resolves with whether that is done, or nobody wants to be notified; false: to be done again. */
  readonly notify: (anomaly: Anomaly) => Promise<boolean>;
  readonly onFault: (error: unknown) => void;
}

/**
 * The beginning of an episode: it is on record, with the quarantine if the policy says so, before anybody is told. The mode
 * changes by its one authority, and only from NORMAL to ALERT: one agent alone does not close the gate for the others.
 */
export function raiseAnomaly(parts: RaiseParts) {
  return async (id: string, sighting: Sighting, policy: AnomalyPolicy): Promise<boolean> => {
    const { store, quarantine, news, onFault } = parts;
    const begun = describeSighting(parts, id, sighting, policy);
    const { at, windowMs } = quarantine();
    const isShutOff = responsesOf(sighting, policy).includes('quarantine') && begun.sessionId !== '';
    const misconduct = isShutOff ? { sessionId: begun.sessionId, weight: at, limit: at, windowMs } : undefined;
    const { quarantined } = await store.openAnomaly(begun, misconduct);
    const raised = responsesOf(sighting, policy).includes('raise_mode') && (await raiseMode(parts, begun));
    const done: AnomalyResponse[] = [
      ...(quarantined ? ['quarantine' as const] : []),
      ...(raised ? ['raise_mode' as const] : []),
    ];
    const anomaly: Anomaly = { ...begun, lastAtMs: begun.beganAtMs, sightings: 1, done };
    news.tell({ kind: 'pending', anomaly });
    tellPeople(parts, anomaly).catch(onFault);
    return raised;
  };
}

/** Also after a start, about those that nobody was told of. */
export async function tellPeople({ notify, store }: Pick<RaiseParts, 'notify' | 'store'>, anomaly: Anomaly) {
  if (await notify(anomaly)) await store.noteAnomalyTold(anomaly.id, Date.now());
}

function describeSighting(parts: RaiseParts, id: string, sighting: Sighting, policy: AnomalyPolicy): NewAnomaly {
  const { kind, detail, fact, calls } = sighting;
  const { agent, sessionId, atMs } = fact;
  return {
    id,
    kind,
    detail,
    agent,
    sessionId,
    beganAtMs: atMs,
    summary: summarize(sighting, policy),
    calls: describeCalls(calls, parts.redact),
    senior: parts.seniorOf(agent) ?? '',
  };
}

async function raiseMode({ authority, store }: RaiseParts, { id, agent, summary }: NewAnomaly): Promise<boolean> {
  if (authority.current() !== 'NORMAL') return false;
  const cause = say`Anomaly of ${ownText(agent === '' ? nobody : agent)}: ${summary}`;
  const made = await authority.change({ to: 'ALERT', cause });
  if (isRefusal(made)) return false;
  await store.noteResponse(id, 'raise_mode');
  return true;
}

function responsesOf({ kind, combination }: Sighting, policy: AnomalyPolicy): readonly AnomalyResponse[] {
  switch (kind) {
    case 'call_spike':
      return policy.callSpike?.respond ?? [];
    case 'repeated_failures':
      return policy.repeatedFailures?.respond ?? [];
    case 'suspicious_combination':
      return combination?.respond ?? [];
    case 'permission_escalation':
      return policy.permissionEscalation?.respond ?? [];
  }
}
