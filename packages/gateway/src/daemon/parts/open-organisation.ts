import type { Redactor } from '../../redaction/redact.ts';
import type { AbuseReports } from '../../closers/report-abuse.ts';
import type { LoadedRules } from '../../policy/language/load-rules.ts';
import type { Abuse } from '../../call/anomaly.ts';
import type { AnyTool } from '../../call/tool.ts';
import { Offices } from '../../organisation/offices.ts';
import type { Store } from '../../storage/stores.ts';
import type { EventLog } from '../../telemetry/event-log.ts';
import { organisationTools } from '../../organisation/tools/index.ts';
import type { EndSession } from '../../sessions/tools/sessions.ts';
import { firstOperator } from '../../call/session.ts';

export interface OrganisationSource {
  readonly store: Store;
  readonly currentRules: () => LoadedRules;
  readonly redactor: Redactor;
  readonly log: EventLog;
  readonly endSession: EndSession;
  /** Tells the senior of an agent, or the directors when it has no senior. Must not throw. */
  readonly notifySenior: (abuse: Abuse, senior: string | undefined) => void;
}

export interface OpenedOrganisation {
  readonly offices: Offices;
  readonly tools: readonly AnyTool[];
  readonly abuse: AbuseReports;
}

/** Puts together what concerns who is who. */
export function openOrganisation(source: OrganisationSource): OpenedOrganisation {
  const { store, currentRules, redactor, log, endSession, notifySenior } = source;
  const offices = new Offices({
    readOrganisation: () => store.readOrganisation(),
    activePeople: () =>
      store
        .liveSessions()
        .filter(({ principal, status }) => principal === 'operator' && status === 'active')
        .map(({ agent }) => agent),
    owner: firstOperator,
    rolesOf: (agent) => currentRules().rolesOf(agent),
  });
  return {
    offices,
    tools: organisationTools({
      store,
      endSession,
      offices,
      rolesOf: (agent, profile) => currentRules().rolesOf(agent, profile),
    }),
    abuse: {
      report: async (abuse) => {
        const { kind, sessionId, agent, tool, rule, refusals } = abuse;
        const senior = offices.seniorOf(agent);
        log.warn(kind, { ...abuse, senior });
        notifySenior(abuse, senior);
        // The quarantine itself is on record already, in one commit with the call that caused it.
        const what = kind === 'limits_ignored' ? { event: kind, refusals } : { event: 'quarantine_reported' };
        const payload = redactor.redactEvent({ ...what, agent, tool, rule, for: senior ?? 'directors' });
        await store.append({ kind: 'event', result: 'denied', timeMs: Date.now(), sessionId, payload });
      },
      findSession: (id) => store.findSession(id),
    },
  };
}
