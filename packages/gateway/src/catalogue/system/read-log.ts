import { defaultProgramLimits } from '@sallyport/sandbox';
import { ToolFailure } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import { openFile } from '../../paths/open-path.ts';
import { viewFor } from '../../programs/run/mounts-for.ts';
import { runProgram } from '../../programs/run/run-program.ts';
import { redactEnd } from '../../call/redacted.ts';
import { failureFrom } from '../files/failure-from.ts';
import { readBytes } from '../files/file-bytes.ts';
import { priorities } from './log-entry.ts';
import type { LogFilter, ReadEntry } from './log-entry.ts';
import type { FoundLogs, MissingLogs } from './log-source.ts';
import { parseJournalLine, parseMacLine, parseSyslogLine } from './parse-log-lines.ts';

/** How much of the end of a file is looked at. */
const tailBytes = 1024 * 1024;
/** How many of the newest entries that the programs of the system find are looked at. */
const mostRead = 5000;
const mostOutputBytes = 16 * 1024 * 1024;

/** Entries from the end of a log, oldest first. `isCut`: there may be more before them. */
export interface ReadLog {
  readonly entries: readonly ReadEntry[];
  readonly isCut: boolean;
}

export function readLog(logs: FoundLogs | MissingLogs, question: LogFilter, context: ToolContext): Promise<ReadLog> {
  if ('lookedAt' in logs) throw missing(logs);
  if (logs.source === 'syslog') return readSyslog(logs.paths[0] ?? '', context);
  const isJournal = logs.source === 'journal';
  const argv = isJournal ? journalCommand(logs.paths, question) : macCommand(question);
  return readWith(argv, isJournal ? parseJournalLine : parseMacLine, logs, context);
}

export function missing({ lookedAt }: MissingLogs): ToolFailure {
  return new ToolFailure(
    'NOT_FOUND',
    `There is no such log on this machine. The gate looks for it in: ${lookedAt.join(', ')}.`,
  );
}

async function readSyslog(path: string, context: ToolContext): Promise<ReadLog> {
  try {
    using file = openFile({ given: path, path }, context);
    const { size } = file.stats;
    const start = Math.max(size - tailBytes, 0);
    const bytes = await readBytes(file.fd, start, size - start, context.signal);
    context.countUsage({ bytesRead: bytes.length });
    // Before it is split: a key may have many lines.
    const lines = context.redact(bytes.toString('utf8').slice(0, tailBytes)).split('\n').filter(Boolean);
    const nowMs = Date.now();
    const whole = start === 0 ? lines : lines.slice(1);
    return { entries: whole.map((line) => parseSyslogLine(line, nowMs)), isCut: start > 0 };
  } catch (error) {
    throw failureFrom(error, path);
  }
}

function journalCommand(
  folders: readonly string[],
  { sinceMs, program, priority }: LogFilter,
): readonly [string, ...string[]] {
  return [
    '/usr/bin/journalctl',
    ...folders.map((folder) => `--file=${folder}/*/*.journal`),
    '--no-pager',
    '--quiet',
    '--output=json',
    '--output-fields=MESSAGE,PRIORITY,SYSLOG_IDENTIFIER,_SYSTEMD_UNIT,_PID',
    `--since=@${Math.floor(sinceMs / 1000)}`,
    `--lines=${mostRead}`,
    ...(priority === undefined ? [] : [`--priority=${priorities.indexOf(priority)}`]),
    ...(program === undefined ? [] : [`SYSLOG_IDENTIFIER=${program}`]),
    ...(program === undefined ? [] : ['+', `_SYSTEMD_UNIT=${program}`, '+', `_SYSTEMD_UNIT=${program}.service`]),
  ];
}

function macCommand({ sinceMs, program }: LogFilter): readonly [string, ...string[]] {
  const minutes = Math.max(Math.ceil((Date.now() - sinceMs) / 60_000), 1);
  // The schema lets no quotation mark into the name.
  const predicate = program === undefined ? [] : ['--predicate', `process == "${program}"`];
  return ['/usr/bin/log', 'show', '--style', 'ndjson', '--last', `${minutes}m`, ...predicate];
}

/** The programs of the system read their logs in the sandbox: they see these folders, and nothing else. */
async function readWith(
  argv: readonly [string, ...string[]],
  parse: (line: string) => ReadEntry | undefined,
  { source, paths }: FoundLogs,
  context: ToolContext,
): Promise<ReadLog> {
  const folders = paths.map((path) => ({ path, access: 'read' as const }));
  const { mounts } = await viewFor(context, { folders });
  const program = {
    argv,
    environment: {},
    workingDirectory: '/tmp',
    stdin: new Uint8Array(),
    mounts,
    hosts: [],
    limits: { ...defaultProgramLimits, ...context.grants.limits, outputBytes: mostOutputBytes },
    isolation: 'sandbox' as const,
  };
  const { how, stdout, stderr } = await runProgram(program, context, { inlineBytes: mostOutputBytes, isLooking: true });
  if (how.kind !== 'exited' || (how.code !== 0 && stdout.totalBytes === 0)) {
    const said = redactEnd(stderr.bytes.toString('utf8'), 300, context.redact).trim();
    throw new ToolFailure('EXECUTION_ERROR', `The ${source} log could not be read. ${said}`, {
      forOperators:
        'The user that runs the daemon must be able to read the log: most systems let members of the group systemd-journal or adm. The rules must allow its folder.',
    });
  }
  const lines = stdout.bytes.toString('utf8').split('\n');
  const entries = lines.map(parse).filter((entry) => entry !== undefined);
  return { entries: entries.slice(-mostRead), isCut: entries.length >= mostRead };
}
