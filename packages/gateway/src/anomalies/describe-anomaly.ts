import { makeVisibleLine, spellCount } from '@sallyport/contract';
import type { Anomaly as AnomalyMessage, InJson } from '@sallyport/contract';
import type { AnomalousCall, Anomaly } from '../call/anomaly.ts';
import { cutText, ownText, say } from '../call/redacted.ts';
import type { Redacted, RedactText } from '../call/redacted.ts';
import type { AnomalyPolicy } from '../call/verdict.ts';
import type { Sighting } from './anomaly-detector.ts';
import type { CallFact } from './call-fact.ts';
import type { EscalationSign } from './escalation-signs.ts';

const longestName = 100;

const tried: Readonly<Record<EscalationSign, string>> = {
  administration: 'tried to use a tool that only people who run the gate may use',
  other_agent: 'claimed to be another agent',
  other_token: 'used a confirm token of another session or run',
  operator_door: 'knocked at the socket of operators with the token of an agent',
  lease: 'tried to use what its lease does not cover',
  role: 'tried to use what its role does not have, or what was taken away from it',
  protected_path: 'tried to reach files of the gate or of agent clients',
  bad_token: 'used a confirm token that is forged or made for something else',
  bad_credential: 'used a credential that nobody has',
};

/** What was seen, in one sentence. Only words of ours: no caller can put any into it. */
export function summarize({ kind, combination, fact, calls }: Sighting, policy: AnomalyPolicy): Redacted {
  const minutes = (ms = 0): string => spellCount(ms / 60_000, 'minute');
  switch (kind) {
    case 'call_spike':
      return ownText(
        `More than ${spellCount(policy.callSpike?.moreThan ?? 0, 'call')} within ${minutes(policy.callSpike?.windowMs)}.`,
      );
    case 'repeated_failures':
      return say`${calls.length} of the last ${policy.repeatedFailures?.of ?? 0} calls failed.`;
    case 'suspicious_combination': {
      const tools = combination?.tools.map((patterns) => patterns.join(' or ')).join(', ');
      return ownText(`All of these within the last ${combination?.within} calls: ${tools}.`);
    }
    case 'permission_escalation': {
      const how = tried[fact.sign ?? 'role'];
      if (calls.length === 1) return ownText(`It ${how}.`);
      const within = minutes(policy.permissionEscalation?.windowMs);
      return ownText(`${calls.length} attempts to get more rights within ${within}. In the last one, it ${how}.`);
    }
  }
}

/** Callers without a credential leave few records, and none that could be looked at by its id. */
export function describeCalls(facts: readonly CallFact[], redact: RedactText): readonly AnomalousCall[] {
  return facts
    .filter(({ sessionId }) => sessionId !== '')
    .map(({ callId, tool, definition, atMs, result }) => ({
      callId,
      tool: definition === undefined ? showName(tool, redact) : ownText(definition.name),
      atMs,
      result,
    }));
}

/** A name that a caller made up, as people may be shown it. */
function showName(name: string, redact: RedactText): Redacted {
  return ownText(makeVisibleLine(cutText(redact(name), longestName)));
}

/** How callers without a valid credential are called. */
export const nobody = '(no valid credential)';

export function describeAnomaly({ seen, ...anomaly }: Anomaly): InJson<AnomalyMessage> {
  return {
    id: anomaly.id,
    kind: anomaly.kind,
    detail: anomaly.detail,
    agent: anomaly.agent,
    sessionId: anomaly.sessionId,
    beganAtMs: String(anomaly.beganAtMs),
    lastAtMs: String(anomaly.lastAtMs),
    sightings: anomaly.sightings,
    summary: anomaly.summary,
    calls: anomaly.calls.map(({ atMs, ...call }) => ({ ...call, endedAtMs: String(atMs) })),
    senior: anomaly.senior,
    done: anomaly.done,
    seenBy: seen?.by ?? '',
    ...(seen === undefined ? {} : { seenAtMs: String(seen.atMs) }),
  };
}
