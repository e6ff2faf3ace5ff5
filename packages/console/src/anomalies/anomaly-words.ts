import type { Anomaly } from '../daemon/messages.ts';
import { formatCount, formatDuration } from '../text/format.ts';

export const anomalyKinds = [
  { kind: 'call_spike', title: 'Call spike', about: 'more calls within some minutes than limits.yaml sets' },
  { kind: 'repeated_failures', title: 'Repeated failures', about: 'most of the last calls failed or were denied' },
  {
    kind: 'suspicious_combination',
    title: 'Suspicious combination',
    about: 'tools that are not used together, among the last calls',
  },
  {
    kind: 'permission_escalation',
    title: 'Permission escalation',
    about: 'attempts to use what the agent may not use, such as a tool of operators or the token of somebody else',
  },
] as const;

const responses: Readonly<Record<string, string>> = {
  quarantine: 'put its session into quarantine',
  raise_mode: 'raised the mode to ALERT',
};

/** `Suspicious combination (read-write-delete)`. */
export function titleOfAnomaly({ kind, detail }: Anomaly): string {
  const title = anomalyKinds.find((each) => each.kind === kind)?.title ?? kind;
  return detail === '' ? title : `${title} (${detail.replaceAll('_', ' ')})`;
}

export function agentOf({ agent }: Anomaly): string {
  return agent === '' ? '(no valid credential)' : agent;
}

/** What the gate did about it. */
export function tellDone({ senior, done }: Anomaly): string {
  const told = `alerted ${senior === '' ? 'the directors' : senior}`;
  return [told, ...done.map((each) => responses[each] ?? each)].join(', ');
}

/** How many calls met the condition, over how long. */
export function tellExtent({ beganAtMs, lastAtMs, sightings }: Anomaly): string {
  const lastedMs = Number(lastAtMs) - Number(beganAtMs);
  const calls = formatCount(sightings, 'call');
  return lastedMs < 1000 ? calls : `${calls} over ${formatDuration(lastedMs)}`;
}
