import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { exitCodes } from '@sallyport/contract/codes';
import { usageFailure } from '../../client/failure.ts';
import type { CommandContext } from '../../command-context.ts';
import { formatTime } from '../../terminal/format-time.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

export interface LogsOptions {
  readonly lines: number;
  readonly follow?: boolean;
  /** The events of calls instead of what the daemon says about itself. */
  readonly calls?: boolean;
}

const pollMs = 300;
const perRead = 64 * 1024;

/** Shows the daemon's own log, whether it runs or not. A file that was just set aside is read to its end. */
export async function showLogs(
  { lines, follow = false, calls = false }: LogsOptions,
  context: CommandContext,
): Promise<number> {
  const { home } = context.config;
  const logFile = calls ? home.callLogFile : home.logFile;
  if (!existsSync(logFile))
    throw usageFailure(`There is no ${logFile} yet.`, 'The first start of the daemon makes it.');
  let file = new GrowingFile(logFile);
  try {
    const older = existsSync(`${logFile}.1`) ? readWhole(`${logFile}.1`) : [];
    const last = [...older, ...file.readLines()].slice(-lines);
    for (const line of last) showLine(line, context);
    while (follow) {
      await sleep(pollMs);
      for (const line of file.readLines()) showLine(line, context);
      if (!file.isReplaced()) continue;
      for (const line of file.readLines()) showLine(line, context);
      file.close();
      file = new GrowingFile(logFile);
    }
  } finally {
    file.close();
  }
  return exitCodes.success;
}

function readWhole(path: string): readonly string[] {
  const file = new GrowingFile(path);
  try {
    return file.readLines();
  } finally {
    file.close();
  }
}

/** A file that somebody appends to. */
class GrowingFile {
  readonly #path: string;
  readonly #descriptor: number;
  readonly #buffer = Buffer.alloc(perRead);
  #rest = Buffer.alloc(0);

  constructor(path: string) {
    this.#path = path;
    this.#descriptor = openSync(path, 'r');
  }

  /** Those that are whole, since the last time. */
  readLines(): readonly string[] {
    const parts = [this.#rest];
    for (;;) {
      const count = readSync(this.#descriptor, this.#buffer, 0, perRead, null);
      if (count === 0) break;
      parts.push(Buffer.from(this.#buffer.subarray(0, count)));
    }
    const bytes = Buffer.concat(parts);
    const end = bytes.lastIndexOf(0x0a) + 1;
    this.#rest = Buffer.from(bytes.subarray(end));
    return bytes.subarray(0, end).toString().split('\n').slice(0, -1);
  }

  isReplaced(): boolean {
    return statSync(this.#path, { throwIfNoEntry: false })?.ino !== fstatSync(this.#descriptor).ino;
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

function showLine(line: string, { json, terminal }: CommandContext): void {
  terminal.print(json ? line : renderLine(line, terminal));
}

/** When, how grave, what, and what about it. A line that is no event is shown as it is. */
function renderLine(line: string, { paint }: Terminal): string {
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return makeVisibleLine(line);
  }
  const { time, level, event, ...rest } = fields;
  const tone = level === 'error' ? 'red' : level === 'warn' ? 'yellow' : 'dim';
  const details = Object.entries(rest).map(([name, value]) => `${name}=${describe(value)}`);
  const head = `${formatTime(Date.parse(String(time)))}  ${paint(tone, String(level).padEnd(5))}  ${String(event)}`;
  return [head, ...(details.length === 0 ? [] : [makeVisibleLine(details.join(' '))])].join('  ');
}

function describe(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
