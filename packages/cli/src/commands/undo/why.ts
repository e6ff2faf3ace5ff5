import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { ExplainFileResponse, FileWriter, InJson } from '@sallyport/contract';
import { exitCodes } from '@sallyport/contract/codes';
import { runOperatorTool } from '../../client/run-tool.ts';
import { usageFailure } from '../../client/failure.ts';
import type { CommandContext } from '../../command-context.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { printFields, renderTable } from '../../terminal/table.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

type Explained = InJson<ExplainFileResponse>;

const mostShownBytes = 4 * 1024 * 1024;

/** Which call wrote a file, or a line of it, and who agreed to it. */
export function explainFile(given: string, context: CommandContext): Promise<number> {
  const { path, line } = readPlace(given);
  return runOperatorTool<Explained>(
    'calls.why',
    { path, line },
    context,
    (explained) => show(explained, line, context),
    {
      exitCodeOf: ({ writer }) => (writer === undefined ? exitCodes.toolError : exitCodes.success),
    },
  );
}

/** `src/main.ts:12` is a line, unless a file has just that name. */
function readPlace(given: string): { readonly path: string; readonly line: number } {
  const [, file = '', number = ''] = /^(.+):(\d{1,9})$/s.exec(given) ?? [];
  const isLine = file !== '' && statSync(given, { throwIfNoEntry: false }) === undefined;
  if (isLine && Number(number) === 0) throw usageFailure('Lines are counted from 1.');
  return isLine ? { path: realPathOf(file), line: Number(number) } : { path: realPathOf(given), line: 0 };
}

/** The folder really there, so that the path is the one that the gate knows. The file itself may be gone. */
function realPathOf(file: string): string {
  const path = resolve(file);
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path;
  }
}

function show(
  { path, writer, reason, writers, lines }: Explained,
  line: number,
  { terminal, commandName }: CommandContext,
): void {
  const { print, paint, columns } = terminal;
  const text = line === 0 ? undefined : readLine(path, line);
  print(paint('bold', makeVisibleLine(line === 0 ? path : `${path}:${line}`)));
  if (text !== undefined) print(`  ${makeVisibleLine(text)}`);
  print('');
  if (writer === undefined) print(`  Unknown. ${makeVisibleLine(reason)}`);
  else printFields(terminal, describe(writer));
  const others = writers.filter(({ callId }) => callId !== writer?.callId);
  if (line === 0 && others.length > 0) {
    const rows = others.map(({ atMs, tool, agent, what, callId }) => [
      ...[formatTime(Number(atMs)), makeVisibleLine(agent), makeVisibleLine(tool), what, callId],
    ]);
    print('', paint('dim', writer === undefined ? 'Calls that changed it:' : 'Other calls that changed it:'));
    print(...renderTable(rows, columns - 2).map((row) => `  ${row}`));
  }
  if (line === 0 && lines.length > 1) terminal.note('', `Of one line: ${commandName} why FILE:LINE`);
}

function describe(writer: InJson<FileWriter>): readonly (readonly [string, string])[] {
  const { approvedBy, approvedHow, approvedAtMs } = writer;
  const approved =
    approvedBy === '' ? 'nobody was asked' : `${approvedBy} (${approvedHow}), ${formatTime(Number(approvedAtMs))}`;
  return [
    ['call', writer.callId],
    ['tool', `${writer.tool}, which ${writer.what} it`],
    ['agent', writer.agent],
    ['session', writer.sessionId],
    ['trace', writer.traceId],
    ['when', formatTime(Number(writer.atMs))],
    ['approved by', approved],
  ];
}

/** For the eyes of a person who may read the file anyway. Undefined: this user cannot. */
function readLine(path: string, line: number): string | undefined {
  try {
    if (statSync(path).size > mostShownBytes) return undefined;
    return readFileSync(path, 'utf8').split('\n')[line - 1];
  } catch {
    return undefined;
  }
}
