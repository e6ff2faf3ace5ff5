import { AnomalyNewsWatch } from '../../anomalies/anomaly-news.ts';
import { AnomalyWatch } from '../../anomalies/anomaly-watch.ts';
import { raiseAnomaly, tellPeople } from '../../anomalies/raise-anomaly.ts';
import { anomalyTools } from '../../anomalies/tools.ts';
import type { Anomaly } from '../../call/anomaly.ts';
import type { AnyTool } from '../../call/tool.ts';
import type { AnomalyPolicy } from '../../call/verdict.ts';
import type { GatewayParts } from '../../gateway.ts';
import type { ModeAuthority } from '../../modes/mode-authority.ts';
import type { Offices } from '../../organisation/offices.ts';
import type { LoadedRules } from '../../policy/language/load-rules.ts';
import type { Redactor } from '../../redaction/redact.ts';
import type { Registry } from '../../registry/registry.ts';
import type { Store } from '../../storage/stores.ts';
import type { EventLog } from '../../telemetry/event-log.ts';

export interface AnomaliesSource {
  readonly store: Store;
  readonly currentRules: () => LoadedRules;
  readonly registry: Registry;
  readonly redactor: Redactor;
  readonly log: EventLog;
  readonly authority: ModeAuthority;
  readonly offices: Offices;
  readonly notify: (anomaly: Anomaly) => Promise<boolean>;
}

export interface OpenedAnomalies {
  readonly tools: readonly AnyTool[];
  readonly news: AnomalyNewsWatch;
  readonly forGateway: GatewayParts['anomalies'];
  /** Whether an episode goes on for which the mode was raised. */
  readonly holdsMode: () => boolean;
  /** Goes on with what went on before, and tells people what they were not told. */
  readonly start: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Nobody needs to be told of older ones; they are in the list. */
const tellForMs = 3_600_000;
const mostRepeated = 100;

/** Puts together what concerns anomalies. */
export function openAnomalies(source: AnomaliesSource): OpenedAnomalies {
  const { store, currentRules, registry, redactor, log, authority, offices, notify } = source;
  const news = new AnomalyNewsWatch();
  const onFault = (error: unknown): void => {
    // A sealed store has said so once.
    if (store.sealed() === undefined) log.error('anomaly_watch_failed', { error });
  };
  const seniorOf = (agent: string): string | undefined => offices.seniorOf(agent);
  const policy = (): AnomalyPolicy => {
    const { anomalies, teamAnomalies } = currentRules().limits;
    return store.readOrganisation().settings.profile === 'team' ? teamAnomalies : anomalies;
  };
  news.listen(({ kind, anomaly: { id, kind: what, agent, sessionId, summary, done } }) => {
    if (kind === 'pending') log.warn('anomaly_detected', { anomaly: id, kind: what, agent, sessionId, summary, done });
  });
  const watch = new AnomalyWatch({
    policy,
    store,
    raise: raiseAnomaly({
      ...{ store, authority, seniorOf, news, notify, onFault },
      quarantine: () => currentRules().limits.quarantine,
      redact: redactor.redactText,
    }),
    onFault,
  });
  return {
    news,
    tools: anomalyTools({ store, news, seniorOf, noteProgress: () => watch.noteProgress() }),
    forGateway: {
      note: (fact) => watch.note(fact),
      findTool: (name) => registry.find(name)?.tool.definition,
      findSessionByToken: (sha256) => store.findSessionByToken(sha256),
    },
    holdsMode: () => watch.holdsMode(),
    start: async () => {
      await watch.start();
      const sinceMs = Date.now() - tellForMs;
      for (const anomaly of await store.listAnomalies({ untold: true, sinceMs, limit: mostRepeated })) {
        tellPeople({ notify, store }, anomaly).catch(onFault);
      }
    },
    close: () => watch.close(),
  };
}
