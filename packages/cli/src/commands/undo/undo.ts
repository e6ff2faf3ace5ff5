import { spellCount } from '@sallyport/contract';
import { exitCodes } from '@sallyport/contract/codes';
import type { CommandContext } from '../../command-context.ts';
import { usageFailure } from '../../client/failure.ts';
import { runSteps } from '../../client/run-steps.ts';
import type { Step } from '../../client/run-steps.ts';
import { foldEffect } from '../../terminal/confirm-effect.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { completeId, idStart, pickId, shortenIds, wholeId } from '../../terminal/short-id.ts';
import { printTable, renderWrappedTable } from '../../terminal/table.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';

export interface UndoOptions {
  readonly callId?: string;
  readonly trace?: string;
  readonly session?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

interface Listed {
  readonly calls: readonly {
    readonly call_id: string;
    readonly agent: string;
    readonly tool: string;
    readonly at_ms: number;
    readonly paths: readonly string[];
    readonly changes: number;
  }[];
}

interface Undone {
  readonly undone: readonly { readonly path: string; readonly what: string }[];
  readonly unchanged: readonly string[];
}

interface Preview extends Undone {
  readonly summary: string;
  readonly difference: string;
  readonly conflicts: readonly {
    readonly path: string;
    readonly because: string;
    readonly difference: string;
    readonly changed_by?: { readonly call_id: string; readonly tool: string; readonly agent: string };
  }[];
}

/** Takes back what calls changed in files; without a call, lists those that can be undone. */
export function undo(options: UndoOptions, context: CommandContext): Promise<number> {
  const { callId, trace, session, dryRun = false, yes = false } = options;
  const given = [callId, trace, session].filter((each) => each !== undefined).length;
  if (given > 1) throw usageFailure('Name one thing to undo: a call, --trace or --session.');
  return runSteps(context, async (step) => {
    if (given === 0) return list(step, context);
    const chosen = {
      ...(callId === undefined ? {} : { call_id: await findCall(callId, step) }),
      ...(trace === undefined ? {} : { trace_id: trace }),
      ...(session === undefined ? {} : { session_id: await completeId('session_id', session, context) }),
    };
    const preview = await step<Preview>('undo.preview', chosen);
    if (dryRun || preview.conflicts.length > 0) return showPreview(preview, context);
    const undone = await step<Undone>('undo.run', chosen, yes ? 'agreed' : undefined);
    return showUndone(undone, context);
  });
}

/** The id of a past call may be given by its beginning. */
async function findCall(given: string, step: Step): Promise<string> {
  const start = given.toLowerCase();
  if (wholeId.test(start) || !idStart.test(start)) return given;
  const { calls } = await step<Listed>('undo.list', { limit: 200 });
  const ids = calls.map(({ call_id: id }) => id);
  return pickId(ids, start, 'call') ?? given;
}

async function list(step: Step, { terminal, json, commandName }: CommandContext): Promise<number> {
  const listed = await step<Listed>('undo.list', {});
  if (json) {
    terminal.print(visibleJson(listed));
    return exitCodes.success;
  }
  const { calls } = listed;
  if (calls.length === 0) {
    terminal.print('No call has changed a file that is kept.');
    return exitCodes.success;
  }
  const ids = shortenIds(calls.map(({ call_id: id }) => id));
  const rows = calls.map(({ call_id: id, agent, tool, at_ms: atMs, paths: [path = ''], changes }) => [
    ...[ids.get(id) ?? '', formatTime(atMs), agent, tool],
    changes === 1 ? path : `${path} and ${changes - 1} more`,
  ]);
  printTable(terminal, ['CALL', 'WHEN', 'AGENT', 'TOOL', 'CHANGED'], rows, renderWrappedTable);
  terminal.note('', `Undo one: ${commandName} undo CALL. See first what it would change: --dry-run.`);
  return exitCodes.success;
}

function showPreview(preview: Preview, { terminal, json }: CommandContext): number {
  const { summary, difference, conflicts } = preview;
  const isPossible = conflicts.length === 0;
  const exitCode = isPossible ? exitCodes.success : exitCodes.toolError;
  if (json) {
    terminal.print(visibleJson(preview));
    return exitCode;
  }
  if (isPossible) {
    terminal.print(terminal.paint('bold', `${makeVisibleLine(summary)}.`), '', ...foldEffect(difference, terminal));
    return exitCode;
  }
  const { note, paintNote } = terminal;
  note(`${paintNote('red', 'Not undone')}  Nothing was changed.`);
  for (const { path, because, difference: text, changed_by: by } of conflicts) {
    const whose = by === undefined ? '' : ` It was ${by.tool} of ${by.agent}, call ${by.call_id}.`;
    note('', makeVisibleLine(`${path} ${because}.${whose}`));
    terminal.print(...foldEffect(text, terminal));
  }
  return exitCode;
}

function showUndone(result: Undone, { terminal, json }: CommandContext): number {
  if (json) {
    terminal.print(visibleJson(result));
    return exitCodes.success;
  }
  const { undone, unchanged } = result;
  for (const { path, what } of undone) terminal.print(`${what.padEnd(12)}  ${makeVisibleLine(path)}`);
  if (undone.length === 0) terminal.print(`Nothing to undo: ${spellCount(unchanged.length, 'path')} as before.`);
  return exitCodes.success;
}
