import { anomalyResponses } from '../../call/anomaly.ts';
import type { AnomalyResponse } from '../../call/anomaly.ts';
import type { AnomalyPolicy } from '../../call/verdict.ts';
import { scalarOf } from '../../text/yaml-node.ts';
import type { YamlNode } from '../../text/yaml-node.ts';
import type { YamlReader } from '../../text/yaml-reader.ts';
import { readToolPattern } from './read-patterns.ts';

export const anomalyKeys = [
  'quiet_minutes',
  'call_spike',
  'repeated_failures',
  'combinations',
  'permission_escalation',
] as const;
export const spikeKeys = ['more_than', 'window_minutes', 'respond'] as const;
export const failureKeys = ['failures', 'of', 'respond'] as const;
export const combinationKeys = ['id', 'tools', 'within', 'respond'] as const;
export const escalationKeys = ['attempts', 'window_minutes', 'respond'] as const;

/** How many calls are remembered of an agent: what looks at the last calls looks at no more than these. */
export const mostRecalled = 20;
const mostCombinations = 7;
const mostTools = 4;
const minuteMs = 60_000;

const grantAndRun = {
  id: 'grant-and-run',
  tools: [['permissions.grant'], ['shell.run']],
  within: 5,
  respond: [],
};

/** What one person with coding agents does not meet in ordinary work. */
export const personalAnomalies: AnomalyPolicy = {
  quietMs: 10 * minuteMs,
  callSpike: { moreThan: 1000, windowMs: 5 * minuteMs, respond: [] },
  repeatedFailures: { failures: 15, of: 20, respond: [] },
  combinations: [grantAndRun],
  permissionEscalation: { attempts: 10, windowMs: 5 * minuteMs, respond: [] },
};

export const teamAnomalies: AnomalyPolicy = {
  quietMs: 10 * minuteMs,
  callSpike: { moreThan: 50, windowMs: 5 * minuteMs, respond: [] },
  repeatedFailures: { failures: 8, of: 10, respond: [] },
  combinations: [
    {
      id: 'read-write-delete',
      tools: [['files.read'], ['files.write', 'files.edit'], ['files.delete']],
      within: 5,
      respond: [],
    },
    grantAndRun,
  ],
  permissionEscalation: { attempts: 5, windowMs: 5 * minuteMs, respond: [] },
};

/** `absent`: what holds for everything that is left out. `false` in place of a detector turns it off. */
export function readAnomalies(
  node: YamlNode | undefined,
  key: string,
  absent: AnomalyPolicy,
  reader: YamlReader,
): AnomalyPolicy {
  const fields = node && reader.readFields(node, key, anomalyKeys, []);
  if (fields === undefined) return absent;
  const quiet = fields.quiet_minutes && readMinutes(fields.quiet_minutes, 'quiet_minutes', reader);
  const callSpike = readDetector(fields.call_spike, absent.callSpike, (given) => readSpike(given, reader));
  const repeatedFailures = readDetector(fields.repeated_failures, absent.repeatedFailures, (given) =>
    readFailures(given, reader),
  );
  const permissionEscalation = readDetector(fields.permission_escalation, absent.permissionEscalation, (given) =>
    readEscalation(given, reader),
  );
  return {
    quietMs: quiet ?? absent.quietMs,
    ...(callSpike && { callSpike }),
    ...(repeatedFailures && { repeatedFailures }),
    combinations:
      readDetector(fields.combinations, absent.combinations, (given) => readCombinations(given, reader)) ?? [],
    ...(permissionEscalation && { permissionEscalation }),
  };
}

/** Undefined: it is turned off. */
function readDetector<Detector>(
  node: YamlNode | undefined,
  absent: Detector | undefined,
  read: (node: YamlNode) => Detector | undefined,
): Detector | undefined {
  if (node === undefined) return absent;
  return scalarOf(node) === false ? undefined : read(node);
}

function readSpike(node: YamlNode, reader: YamlReader): AnomalyPolicy['callSpike'] {
  const fields = reader.readFields(node, 'call_spike', spikeKeys, ['more_than', 'window_minutes']);
  const moreThan = fields?.more_than && reader.readInteger(fields.more_than, 'more_than', { min: 1, max: 1_000_000 });
  const windowMs = fields?.window_minutes && readMinutes(fields.window_minutes, 'window_minutes', reader);
  if (moreThan === undefined || windowMs === undefined) return undefined;
  return { moreThan, windowMs, respond: readResponses(fields?.respond, reader) };
}

function readFailures(node: YamlNode, reader: YamlReader): AnomalyPolicy['repeatedFailures'] {
  const fields = reader.readFields(node, 'repeated_failures', failureKeys, ['failures', 'of']);
  const range = { min: 1, max: mostRecalled };
  const failures = fields?.failures && reader.readInteger(fields.failures, 'failures', range);
  const of = fields?.of && reader.readInteger(fields.of, 'of', range);
  if (fields?.failures === undefined || failures === undefined || of === undefined) return undefined;
  if (failures > of) return reader.note(fields.failures, `failures is above of, ${of}`);
  return { failures, of, respond: readResponses(fields.respond, reader) };
}

function readEscalation(node: YamlNode, reader: YamlReader): AnomalyPolicy['permissionEscalation'] {
  const fields = reader.readFields(node, 'permission_escalation', escalationKeys, ['attempts', 'window_minutes']);
  const attempts = fields?.attempts && reader.readInteger(fields.attempts, 'attempts', { min: 1, max: mostRecalled });
  const windowMs = fields?.window_minutes && readMinutes(fields.window_minutes, 'window_minutes', reader);
  if (attempts === undefined || windowMs === undefined) return undefined;
  return { attempts, windowMs, respond: readResponses(fields?.respond, reader) };
}

function readCombinations(node: YamlNode, reader: YamlReader): AnomalyPolicy['combinations'] {
  const items = reader.readList(node, 'combinations') ?? [];
  if (items.length > mostCombinations) reader.note(node, `combinations has more than ${mostCombinations} entries`);
  const read = items.map((item) => readCombination(item, reader)).filter((each) => each !== undefined);
  for (const [at, { id }] of read.entries()) {
    const isTaken = read.slice(0, at).some((other) => other.id === id);
    if (isTaken) reader.note(items[at] ?? node, `another combination has the id ${id}`);
  }
  return read;
}

function readCombination(node: YamlNode, reader: YamlReader): AnomalyPolicy['combinations'][number] | undefined {
  const fields = reader.readFields(node, 'a combination', combinationKeys, ['id', 'tools', 'within']);
  const id = fields?.id && readId(fields.id, reader);
  const tools = fields?.tools && reader.readItems(fields.tools, 'tools', (item) => readTools(item, reader));
  const within = fields?.within && reader.readInteger(fields.within, 'within', { min: 2, max: mostRecalled });
  if (fields?.tools === undefined || id === undefined || tools === undefined || within === undefined) return undefined;
  if (tools.length < 2 || tools.length > mostTools || tools.length > within) {
    return reader.note(fields.tools, `a combination has 2 to ${mostTools} tools, and not more than within, ${within}`);
  }
  return { id, tools, within, respond: readResponses(fields.respond, reader) };
}

function readId(node: YamlNode, reader: YamlReader): string | undefined {
  const id = reader.readString(node, 'id', 64);
  if (id === undefined || /^[a-z][a-z0-9-]*$/.test(id)) return id;
  return reader.note(node, 'an id has small letters, digits and dashes');
}

/** One pattern, or several of which one has to fit. */
function readTools(node: YamlNode, reader: YamlReader): readonly string[] | undefined {
  if (node.kind === 'list') return reader.readItems(node, 'tools', (item) => readToolPattern(item, reader));
  const pattern = readToolPattern(node, reader);
  return pattern === undefined ? undefined : [pattern];
}

function readResponses(node: YamlNode | undefined, reader: YamlReader): readonly AnomalyResponse[] {
  const items = (node && reader.readList(node, 'respond')) ?? [];
  return items.map((item) => reader.readOneOf(item, 'respond', anomalyResponses)).filter((each) => each !== undefined);
}

function readMinutes(node: YamlNode, key: string, reader: YamlReader): number | undefined {
  const minutes = reader.readInteger(node, key, { min: 1, max: 60 });
  return minutes === undefined ? undefined : minutes * minuteMs;
}
