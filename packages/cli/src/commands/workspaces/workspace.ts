import { resolve } from 'node:path';
import { exitCodes } from '@sallyport/contract/codes';
import type { CommandContext } from '../../command-context.ts';
import { usageFailure } from '../../client/failure.ts';
import { runSteps, seekConsent } from '../../client/run-steps.ts';
import type { ConsentOptions } from '../../client/run-steps.ts';
import { runOperatorTool } from '../../client/run-tool.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { renderWrappedTable } from '../../terminal/table.ts';
import { makeVisible, makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';

interface ListedWorkspace {
  readonly path: string;
  readonly own: boolean;
  readonly added_by?: string;
  readonly rules: keyof typeof rulesStates;
  readonly sessions: number;
}

const rulesStates = {
  none: 'none',
  waiting: 'not accepted',
  'in-force': 'in force',
  changed: 'changed since accepted',
  gone: 'file is gone, accepted ones in force',
  unreadable: 'file cannot be read',
} as const;

/** Folders are given as people stand: relative to where they are. */
const folderOf = (folder: string, { config }: CommandContext): string => resolve(config.startFolder, folder);

export function addWorkspace(folder: string, context: CommandContext): Promise<number> {
  interface Added {
    readonly path: string;
    readonly added: boolean;
  }
  const input = { path: folderOf(folder, context) };
  return runOperatorTool('workspaces.add', input, context, ({ path, added }: Added) => {
    const { print } = context.terminal;
    if (!added) return print(`${makeVisibleLine(path)} was accepted before.`);
    print(
      `Sessions may work in ${makeVisibleLine(path)} from now on. To open one there:`,
      `  ${context.commandName} session create NAME --workspace ${makeVisibleLine(path)}`,
    );
  });
}

export function listWorkspaces(context: CommandContext): Promise<number> {
  interface Listed {
    readonly workspaces: readonly ListedWorkspace[];
  }
  return runOperatorTool('workspaces.list', {}, context, ({ workspaces }: Listed) => {
    const { columns, paint, print } = context.terminal;
    const rows = workspaces.map(({ path, own, added_by: by = '', rules, sessions }) =>
      [path, own ? 'the daemon' : by, String(sessions), rulesStates[rules]].map(makeVisibleLine),
    );
    const names = ['FOLDER', 'ACCEPTED BY', 'SESSIONS', 'PROJECT RULES'];
    const [header = '', ...body] = renderWrappedTable([names, ...rows], columns);
    print(paint('dim', header), ...body);
  });
}

interface ShownRules {
  readonly path: string;
  readonly file: string;
  readonly rules: keyof typeof rulesStates;
  readonly sha256?: string;
  readonly text?: string;
  /** Why the file cannot be accepted. Absent: it can. */
  readonly problem?: string;
  readonly accepted_text?: string;
  readonly accepted_at?: string;
  readonly accepted_by?: string;
}

interface AcceptedRules {
  readonly count: number;
  readonly changed: boolean;
}

/** Shows the rules of a project, asks, and puts exactly these in force. */
export function acceptProjectRules(folder: string, options: ConsentOptions, context: CommandContext): Promise<number> {
  const { print } = context.terminal;
  const path = folderOf(folder, context);
  return runSteps(context, async (step) => {
    const shown = await step<ShownRules>('workspaces.show', { path });
    if (shown.rules === 'unreadable') throw usageFailure(`${shown.file} cannot be read, or is a link.`, 'Replace it.');
    if (shown.problem !== undefined) throw usageFailure(shown.problem, 'Nothing was changed.');
    if (shown.rules !== 'none' && shown.rules !== 'in-force') {
      if (!context.json) showRules(shown, context);
      await seekConsent(shown.text === undefined ? 'End them?' : 'Put these in force?', options, context);
    }
    const input = { path, sha256: shown.sha256 ?? '' };
    const accepted = await step<AcceptedRules>('workspaces.accept', input, 'agreed');
    if (context.json) print(visibleJson(accepted));
    else print(describeAccepted(accepted, path));
    return exitCodes.success;
  });
}

function describeAccepted({ count, changed }: AcceptedRules, path: string): string {
  const where = makeVisibleLine(path);
  if (!changed) return count === 0 ? `${where} has no rules.` : `The ${count} rules of ${where} are in force already.`;
  return count === 0 ? `No rules of ${where} are in force.` : `${count} rules of ${where} are in force.`;
}

function showRules(
  { file, text, accepted_text, accepted_at, accepted_by = '' }: ShownRules,
  context: CommandContext,
): void {
  const { paint, print } = context.terminal;
  const show = (title: string, rules: string): void => {
    print(paint('dim', makeVisibleLine(title)), ...rules.split('\n').map((line) => `  ${makeVisible(line)}`));
  };
  if (accepted_text !== undefined) {
    show(`In force, as ${accepted_by} accepted them ${formatTime(Date.parse(accepted_at ?? ''))}:`, accepted_text);
  }
  if (text === undefined) print(`${makeVisibleLine(file)} is gone.`);
  else show(`${file}:`, text);
}

export function removeWorkspace(folder: string, context: CommandContext): Promise<number> {
  interface Removed {
    readonly path: string;
    readonly ended_sessions: number;
  }
  const input = { path: folderOf(folder, context) };
  return runOperatorTool('workspaces.remove', input, context, ({ path, ended_sessions: ended }: Removed) => {
    const sessions = ended === 0 ? 'No session worked there.' : `${ended} sessions that worked there have ended.`;
    context.terminal.print(`${makeVisibleLine(path)} is not accepted any more. ${sessions}`);
  });
}
