import { cutText } from '../../call/redacted.ts';
import type { RedactText } from '../../call/redacted.ts';
import * as schema from '../../registry/schemas/schema.ts';

/** Named as syslog names them, the most urgent first. */
export const priorities = ['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug'] as const;
export type Priority = (typeof priorities)[number];

/** One message of a system log. What is absent, the log does not tell. */
export interface LogEntry {
  readonly [key: string]: string | number;
  readonly message: string;
}

/** An entry with what filters look at. */
export interface ReadEntry {
  readonly timeMs?: number;
  readonly program?: string;
  readonly pid?: number;
  readonly priority?: Priority;
  readonly message: string;
}

export interface LogFilter {
  readonly sinceMs: number;
  readonly program?: string;
  /** This urgent or more. Absent: any. */
  readonly priority?: Priority;
  readonly contains?: string;
}

const longestMessage = 2000;

export const entrySchema = schema.object(
  {
    time: schema.string('In ISO 8601.'),
    program: schema.string('The program or unit that wrote it.'),
    pid: schema.integer('Its process id.'),
    priority: schema.choice('How urgent it is.', priorities),
    message: schema.string(`The text without secrets, or its first ${longestMessage} characters.`),
  },
  { optional: ['time', 'program', 'pid', 'priority'] },
);

/** An entry without a time cannot be known to be recent. */
export function fitsFilter({ timeMs, program, priority, message }: ReadEntry, filter: LogFilter): boolean {
  if (timeMs === undefined || timeMs < filter.sinceMs) return false;
  if (filter.program !== undefined && program !== filter.program && program !== `${filter.program}.service`) {
    return false;
  }
  if (filter.priority !== undefined) {
    if (priority === undefined || priorities.indexOf(priority) > priorities.indexOf(filter.priority)) return false;
  }
  return filter.contains === undefined || message.toLowerCase().includes(filter.contains.toLowerCase());
}

export function presentEntry({ timeMs, program, pid, priority, message }: ReadEntry, redact: RedactText): LogEntry {
  return {
    ...(timeMs === undefined ? {} : { time: new Date(timeMs).toISOString() }),
    ...(program === undefined ? {} : { program: redact(program) }),
    ...(pid === undefined ? {} : { pid }),
    ...(priority === undefined ? {} : { priority }),
    message: cutText(redact(message), longestMessage),
  };
}
