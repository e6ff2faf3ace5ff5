import type { Limits, RateLimit, Rates } from '../../call/verdict.ts';
import { personalAnomalies, readAnomalies, teamAnomalies } from './read-anomalies.ts';
import { readToolPattern } from './read-patterns.ts';
import type { Fields, YamlReader } from '../../text/yaml-reader.ts';
import type { YamlNode } from '../../text/yaml-node.ts';

export const limitsKeys = [
  'version',
  'rates',
  'team_rates',
  'role_rates',
  'total_rates',
  'repeats',
  'quarantine',
  'anomalies',
  'team_anomalies',
  'approvals',
  'max_running',
  'max_running_per_session',
  'max_argument_bytes',
  'undo_days',
  'keep_payload_days',
] as const;
export const windowKeys = ['per_minute', 'per_hour', 'per_day'] as const;
export const rateKeys = ['tools', ...windowKeys] as const;
export const repeatsKeys = [
  'warn_at',
  'delay_at',
  'delay_seconds',
  'refuse_at',
  'refuse_changes_at',
  'window_minutes',
] as const;
export const approvalKeys = ['expire_seconds', 'remind_seconds', 'max_pending'] as const;
export const quarantineKeys = ['at', 'window_minutes', 'denied', 'error', 'timeout'] as const;

const minuteMs = 60_000;
const windows = [
  { key: 'per_minute', windowMs: minuteMs },
  { key: 'per_hour', windowMs: 60 * minuteMs },
  { key: 'per_day', windowMs: 24 * 60 * minuteMs },
] as const;

function teamRate(tool: string, perMinute: number, perHour: number, perDay: number): Rates[number] {
  const calls = [perMinute, perHour, perDay];
  return { tools: [tool], limits: windows.map(({ windowMs }, at) => ({ windowMs, calls: calls[at] ?? perMinute })) };
}

/** What holds for everything that limits.yaml leaves out: careful numbers, because nobody chose them. */
export const defaultLimits: Limits = {
  rates: [
    {
      tools: ['*'],
      limits: [
        { windowMs: minuteMs, calls: 20 },
        { windowMs: 60 * minuteMs, calls: 200 },
        { windowMs: 24 * 60 * minuteMs, calls: 1000 },
      ],
    },
  ],
  teamRates: [
    teamRate('read_file', 30, 500, 5000),
    teamRate('write_file', 10, 100, 500),
    teamRate('run_command', 5, 50, 200),
    teamRate('*', 20, 200, 1000),
  ],
  repeats: { warnAt: 10, delayAt: 30, delayMs: 1000, refuseAt: 200, refuseChangesAt: 5, windowMs: 10 * minuteMs },
  quarantine: { at: 50, windowMs: 10 * minuteMs, weights: { denied: 1, error: 0, timeout: 2 } },
  anomalies: personalAnomalies,
  teamAnomalies,
  approvals: { expireAfterMs: 300_000, remindAfterMs: 180_000, maxPending: 20 },
  maxRunning: 64,
  maxRunningPerSession: 32,
  maxArgumentBytes: 16 * 1024 * 1024,
  undoForMs: 30 * 24 * 60 * minuteMs,
};

/** The limits of limits.yaml. What could not be read is noted with the reader and has its default here. */
export function readLimits(root: YamlNode, reader: YamlReader): Limits {
  const fields = reader.readFields(root, 'limits.yaml', limitsKeys, []);
  if (fields === undefined) return defaultLimits;
  if (fields.version !== undefined) reader.readInteger(fields.version, 'version', { min: 1, max: 1 });
  type Numbers = 'max_running' | 'max_running_per_session' | 'max_argument_bytes' | 'undo_days' | 'keep_payload_days';
  const number = (key: Numbers, max: number) => fields[key] && reader.readInteger(fields[key], key, { min: 1, max });
  const undoDays = number('undo_days', 3650);
  const keepPayloadDays = number('keep_payload_days', 36_500);
  const maxRunning = number('max_running', 10_000) ?? defaultLimits.maxRunning;
  const maxRunningPerSession = number('max_running_per_session', 10_000) ?? defaultLimits.maxRunningPerSession;
  if (fields.max_running_per_session !== undefined && maxRunningPerSession > maxRunning) {
    reader.note(fields.max_running_per_session, `max_running_per_session is above max_running, ${maxRunning}`);
  }
  return {
    rates: fields.rates === undefined ? defaultLimits.rates : readRates(fields.rates, reader),
    teamRates: fields.team_rates === undefined ? defaultLimits.teamRates : readRates(fields.team_rates, reader),
    ...(fields.role_rates === undefined ? {} : { roleRates: readRoleRates(fields.role_rates, reader) }),
    ...(fields.total_rates === undefined ? {} : { totalRates: readRates(fields.total_rates, reader) }),
    repeats: fields.repeats === undefined ? defaultLimits.repeats : readRepeats(fields.repeats, reader),
    quarantine: fields.quarantine === undefined ? defaultLimits.quarantine : readQuarantine(fields.quarantine, reader),
    anomalies: readAnomalies(fields.anomalies, 'anomalies', personalAnomalies, reader),
    teamAnomalies: readAnomalies(fields.team_anomalies, 'team_anomalies', teamAnomalies, reader),
    approvals: fields.approvals === undefined ? defaultLimits.approvals : readApprovals(fields.approvals, reader),
    maxRunning,
    maxRunningPerSession: Math.min(maxRunning, maxRunningPerSession),
    maxArgumentBytes: number('max_argument_bytes', 64 * 1024 * 1024) ?? defaultLimits.maxArgumentBytes,
    undoForMs: undoDays === undefined ? defaultLimits.undoForMs : undoDays * 24 * 60 * minuteMs,
    ...(keepPayloadDays === undefined ? {} : { keepPayloadDays }),
  };
}

function readRates(node: YamlNode, reader: YamlReader): Rates {
  const rates = reader.readList(node, 'rates') ?? [];
  return rates.map((item) => readRate(item, reader)).filter((rate) => rate !== undefined);
}

function readRoleRates(node: YamlNode, reader: YamlReader): ReadonlyMap<string, Rates> {
  const entries = reader.readEntries(node, 'role_rates') ?? [];
  return new Map(entries.map(({ name, value }) => [name, readRates(value, reader)]));
}

function readRate(node: YamlNode, reader: YamlReader): Rates[number] | undefined {
  const fields = reader.readFields(node, 'a rate', rateKeys, ['tools']);
  const tools = fields?.tools && reader.readItems(fields.tools, 'tools', (item) => readToolPattern(item, reader));
  if (fields === undefined || tools === undefined) return undefined;
  const limits = readRateLimits(fields, reader);
  if (windows.every(({ key }) => fields[key] === undefined)) {
    return reader.note(node, 'a rate needs per_minute, per_hour or per_day');
  }
  return { tools, limits };
}

export function readRateLimits(fields: Fields<(typeof windowKeys)[number]>, reader: YamlReader): readonly RateLimit[] {
  return windows.flatMap(({ key, windowMs }) => {
    const calls = fields[key] && reader.readInteger(fields[key], key, { min: 1, max: 10_000_000 });
    return calls === undefined ? [] : [{ windowMs, calls }];
  });
}

function readRepeats(node: YamlNode, reader: YamlReader): Limits['repeats'] {
  const fields = reader.readFields(node, 'repeats', repeatsKeys, ['warn_at', 'refuse_at', 'window_minutes']);
  if (fields === undefined) return defaultLimits.repeats;
  const number = (key: (typeof repeatsKeys)[number], range: { min: number; max: number }) =>
    fields[key] && reader.readInteger(fields[key], key, range);
  const warnAt = number('warn_at', { min: 2, max: 1000 }) ?? defaultLimits.repeats.warnAt;
  const refuseAt = number('refuse_at', { min: 2, max: 1000 }) ?? defaultLimits.repeats.refuseAt;
  const delayAt = number('delay_at', { min: 2, max: 1000 }) ?? Infinity;
  const delaySeconds = number('delay_seconds', { min: 1, max: 60 }) ?? 1;
  // Files from before know one number for all calls.
  const refuseChangesAt = number('refuse_changes_at', { min: 2, max: 1000 }) ?? refuseAt;
  const windowMinutes = number('window_minutes', { min: 1, max: 1440 }) ?? 10;
  if (fields.warn_at !== undefined && warnAt > refuseAt) reader.note(fields.warn_at, 'warn_at is above refuse_at');
  if (fields.delay_at !== undefined && delayAt > refuseAt) reader.note(fields.delay_at, 'delay_at is above refuse_at');
  return {
    warnAt,
    delayAt,
    delayMs: delaySeconds * 1000,
    refuseAt,
    refuseChangesAt,
    windowMs: windowMinutes * minuteMs,
  };
}

function readQuarantine(node: YamlNode, reader: YamlReader): Limits['quarantine'] {
  const fields = reader.readFields(node, 'quarantine', quarantineKeys, quarantineKeys);
  if (fields === undefined) return defaultLimits.quarantine;
  const number = (key: (typeof quarantineKeys)[number], range: { min: number; max: number }) =>
    fields[key] && reader.readInteger(fields[key], key, range);
  const weight = (key: 'denied' | 'error' | 'timeout') =>
    number(key, { min: 0, max: 1000 }) ?? defaultLimits.quarantine.weights[key];
  return {
    at: number('at', { min: 1, max: 1_000_000 }) ?? defaultLimits.quarantine.at,
    windowMs: (number('window_minutes', { min: 1, max: 1440 }) ?? 10) * minuteMs,
    weights: { denied: weight('denied'), error: weight('error'), timeout: weight('timeout') },
  };
}

function readApprovals(node: YamlNode, reader: YamlReader): Limits['approvals'] {
  const fields = reader.readFields(node, 'approvals', approvalKeys, []);
  if (fields === undefined) return defaultLimits.approvals;
  const number = (key: (typeof approvalKeys)[number], max: number) =>
    fields[key] && reader.readInteger(fields[key], key, { min: 1, max });
  const { expireAfterMs, remindAfterMs, maxPending } = defaultLimits.approvals;
  const expireSeconds = number('expire_seconds', 86_400) ?? expireAfterMs / 1000;
  const remindSeconds = number('remind_seconds', 86_400) ?? Math.min(remindAfterMs / 1000, expireSeconds);
  if (fields.remind_seconds !== undefined && remindSeconds >= expireSeconds) {
    reader.note(fields.remind_seconds, `remind_seconds is not below expire_seconds, ${expireSeconds}`);
  }
  return {
    expireAfterMs: expireSeconds * 1000,
    remindAfterMs: remindSeconds * 1000,
    maxPending: number('max_pending', 1000) ?? maxPending,
  };
}
