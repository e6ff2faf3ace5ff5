import { modes } from '../../call/session.ts';
import type { Mode } from '../../call/session.ts';
import { defaultModePolicy, edges, endedByPeople, measures } from '../judge/mode-policy.ts';
import type { Measure, ModeLimits, ModePolicy, Transition } from '../judge/mode-policy.ts';
import type { YamlReader } from '../../text/yaml-reader.ts';
import type { YamlNode } from '../../text/yaml-node.ts';

export const modesKeys = ['version', 'modes', 'transitions'] as const;
export const modeKeys = ['max_running', 'calls_per_minute'] as const;
export const transitionKeys = ['from', 'to', 'when', 'hold_seconds'] as const;

/** The policy of modes.yaml. What could not be read is noted with the reader and has its default here. */
export function readModes(root: YamlNode, reader: YamlReader): ModePolicy {
  const fields = reader.readFields(root, 'modes.yaml', modesKeys, []);
  if (fields?.version !== undefined) reader.readInteger(fields.version, 'version', { min: 1, max: 1 });
  const byMode = fields?.modes && reader.readFields(fields.modes, 'modes', modes, []);
  const limits = Object.fromEntries(
    modes.map((mode) => [mode, readModeLimits(mode, byMode?.[mode], reader)]),
  ) as ModePolicy['limits'];
  const listed = (fields?.transitions && reader.readList(fields.transitions, 'transitions')) ?? [];
  const transitions = listed.map((node) => readTransition(node, reader)).filter((each) => each !== undefined);
  return { limits, transitions };
}

function readModeLimits(mode: Mode, node: YamlNode | undefined, reader: YamlReader): ModeLimits {
  const fields = node && reader.readFields(node, mode, modeKeys, []);
  if (fields === undefined) return defaultModePolicy.limits[mode];
  const number = (key: (typeof modeKeys)[number], range: { min: number; max: number }) =>
    fields[key] && reader.readInteger(fields[key], key, range);
  const callsPerMinute = number('calls_per_minute', { min: 1, max: 10_000_000 });
  return {
    maxRunning: number('max_running', { min: 0, max: 10_000 }) ?? defaultModePolicy.limits[mode].maxRunning,
    ...(callsPerMinute === undefined ? {} : { callsPerMinute }),
  };
}

function readTransition(node: YamlNode, reader: YamlReader): Transition | undefined {
  const fields = reader.readFields(node, 'a transition', transitionKeys, transitionKeys);
  if (fields === undefined) return undefined;
  const from = fields.from && reader.readOneOf(fields.from, 'from', modes);
  const to = fields.to && reader.readOneOf(fields.to, 'to', modes);
  const holdSeconds =
    fields.hold_seconds && reader.readInteger(fields.hold_seconds, 'hold_seconds', { min: 0, max: 86_400 });
  const when = fields.when && readThresholds(fields.when, reader);
  if (from === undefined || to === undefined || when === undefined || holdSeconds === undefined) return undefined;
  if (!edges[from].includes(to)) {
    return reader.note(fields.to as YamlNode, `${from} leads to ${edges[from].join(', ')} only`);
  }
  if (endedByPeople.includes(from)) return reader.note(fields.from as YamlNode, `only a person ends ${from}`);
  return { from, to, when, holdMs: holdSeconds * 1000 };
}

function readThresholds(node: YamlNode, reader: YamlReader): Transition['when'] | undefined {
  const fields = reader.readFields(node, 'when', measures, []);
  if (fields === undefined) return undefined;
  const thresholds: { [Name in Measure]?: number } = {};
  for (const name of measures) {
    const max = name.endsWith('_percent') ? 100 : 10_000_000;
    const value = fields[name] && reader.readInteger(fields[name], name, { min: 1, max });
    if (value !== undefined) thresholds[name] = value;
  }
  if (Object.keys(fields).length === 0) return reader.note(node, `when needs one of ${measures.join(', ')}`);
  return thresholds;
}
