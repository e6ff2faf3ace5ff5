import { parseJsonObject } from '@sallyport/contract';
import type { Json } from '@sallyport/contract';
import { priorities } from './log-entry.ts';
import type { ReadEntry } from './log-entry.ts';

const dayMs = 86_400_000;
const head = String.raw`\S+ ([^\s:[]+)(?:\[(\d+)\])?: (.*)`;
const traditional = new RegExp(`^([A-Z][a-z]{2} [ \\d]\\d \\d{2}:\\d{2}:\\d{2}) ${head}$`, 's');
const dated = new RegExp(`^(\\d{4}-\\d{2}-\\d{2}T\\S+) ${head}$`, 's');

/** A line of a syslog file. What has neither of the usual forms is a message without a time. */
export function parseSyslogLine(line: string, nowMs: number): ReadEntry {
  const [, time, program, pid, message] = dated.exec(line) ?? traditional.exec(line) ?? [];
  if (time === undefined || message === undefined) return { message: line };
  const timeMs = time.includes('T') ? Date.parse(time) : parseTraditional(time, nowMs);
  return {
    ...(Number.isNaN(timeMs) ? {} : { timeMs }),
    ...(program === undefined ? {} : { program }),
    ...(pid === undefined ? {} : { pid: Number(pid) }),
    message,
  };
}

/** It has no year: the latest one that does not lie ahead, with a day for clocks that differ. */
function parseTraditional(text: string, nowMs: number): number {
  const year = new Date(nowMs).getFullYear();
  const timeMs = Date.parse(`${text} ${year}`);
  return timeMs > nowMs + dayMs ? Date.parse(`${text} ${year - 1}`) : timeMs;
}

/** A line of `journalctl --output=json`. Undefined: it is not one. */
export function parseJournalLine(line: string): ReadEntry | undefined {
  const fields = parseJsonObject(line);
  if (fields === undefined) return undefined;
  const time = Number(textOf(fields['__REALTIME_TIMESTAMP']));
  const program = textOf(fields['SYSLOG_IDENTIFIER']) ?? textOf(fields['_SYSTEMD_UNIT']);
  const pid = Number(textOf(fields['_PID']));
  const priority = priorities[Number(textOf(fields['PRIORITY']) ?? NaN)];
  return {
    ...(Number.isFinite(time) ? { timeMs: time / 1000 } : {}),
    ...(program === undefined ? {} : { program }),
    ...(Number.isInteger(pid) ? { pid } : {}),
    ...(priority === undefined ? {} : { priority }),
    message: textOf(fields['MESSAGE']) ?? '',
  };
}

const macPriorities: Readonly<Record<string, ReadEntry['priority']>> = {
  Fault: 'crit',
  Error: 'err',
  Default: 'notice',
  Info: 'info',
  Debug: 'debug',
};

/** A line of `log show --style ndjson` of macOS. Undefined: it is not one. */
export function parseMacLine(line: string): ReadEntry | undefined {
  const fields = parseJsonObject(line);
  if (typeof fields?.['eventMessage'] !== 'string') return undefined;
  const timeMs = Date.parse((textOf(fields['timestamp']) ?? '').replace(' ', 'T').replace(/(\d{2})(\d{2})$/, '$1:$2'));
  const program = textOf(fields['processImagePath'])?.split('/').at(-1);
  const pid = fields['processID'];
  const priority = macPriorities[textOf(fields['messageType']) ?? ''];
  return {
    ...(Number.isNaN(timeMs) ? {} : { timeMs }),
    ...(program === undefined ? {} : { program }),
    ...(typeof pid === 'number' && Number.isInteger(pid) ? { pid } : {}),
    ...(priority === undefined ? {} : { priority }),
    message: fields['eventMessage'],
  };
}

/** The journal writes what is not plain text as a list of bytes. */
function textOf(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'number')) return undefined;
  return Buffer.from(value).toString('utf8');
}
