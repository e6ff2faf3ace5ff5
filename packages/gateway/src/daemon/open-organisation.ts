import { canonicalJson } from '@sallyport/contract';
import type { Abuse, AbuseReports } from '../closers/report-abuse.ts';
import type { LoadedRules } from '../governance/load-rules.ts';
import type { AnyTool } from '../model/tool.ts';
import { Offices } from '../organisation/offices.ts';
import type { Store } from '../storage/stores.ts';
import type { EventLog } from '../telemetry/event-log.ts';
import { organisationTools } from '../tools/organisation/index.ts';
import { firstOperator } from '../tools/people/people.ts';

export interface OrganisationSource {
  readonly store: Store;
  readonly currentRules: () => LoadedRules;
  readonly log: EventLog;
  /** Hears whom to tell about an agent that goes on although it was told to slow down. Absent: only the logs do. */
  readonly notifySenior?: (senior: string | undefined, abuse: Abuse) => void;
}

export interface OpenedOrganisation {
  readonly offices: Offices;
  readonly tools: readonly AnyTool[];
  readonly abuse: AbuseReports;
}

/** Puts together what concerns who is who. */
export function openOrganisation({ store, currentRules, log, notifySenior }: OrganisationSource): OpenedOrganisation {
  const offices = new Offices({
    readOrganisation: () => store.readOrganisation(),
    activePeople: () =>
      store
        .listSessions()
        .filter(({ principal, status }) => principal === 'operator' && status === 'active')
        .map(({ agent }) => agent),
    owner: firstOperator,
  });
  return {
    offices,
    tools: organisationTools({ store, offices, rolesOf: (agent) => currentRules().rolesOf(agent) }),
    abuse: {
      report: async (abuse) => {
        const { sessionId, agent, tool, rule, refusals } = abuse;
        const senior = offices.seniorOf(agent);
        log.warn('limits_ignored', { ...abuse, senior });
        notifySenior?.(senior, abuse);
        const to = senior === undefined ? { for: 'directors' } : { for: senior };
        const payload = canonicalJson({ event: 'limits_ignored', agent, tool, rule, refusals, ...to });
        await store.append({ kind: 'event', result: 'denied', timeMs: Date.now(), sessionId, payload });
      },
    },
  };
}
