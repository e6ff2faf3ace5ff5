import { resolve } from 'node:path';
import type {
  AcceptedRules,
  AddedWorkspace,
  InJson,
  ProjectRulesReport,
  RemovedWorkspace,
  WorkspaceList,
} from '@sallyport/contract';
import { exitCodes } from '@sallyport/contract/codes';
import type { CommandContext } from '../../command-context.ts';
import { usageFailure } from '../../client/failure.ts';
import { runSteps, seekConsent } from '../../client/run-steps.ts';
import type { ConsentOptions } from '../../client/run-steps.ts';
import { runOperatorTool } from '../../client/run-tool.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { renderWrappedTable } from '../../terminal/table.ts';
import { makeVisible, makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';

const rulesStates: Readonly<Record<string, string>> = {
  none: 'none',
  waiting: 'not accepted',
  'in-force': 'in force',
  changed: 'changed since accepted',
  gone: 'file is gone, accepted ones in force',
  unreadable: 'file cannot be read',
};

/** Folders are given as people stand: relative to where they are. */
const folderOf = (folder: string, { config }: CommandContext): string => resolve(config.startFolder, folder);

export function addWorkspace(folder: string, context: CommandContext): Promise<number> {
  const input = { path: folderOf(folder, context) };
  return runOperatorTool('workspaces.add', input, context, ({ path, added }: InJson<AddedWorkspace>) => {
    const { print } = context.terminal;
    if (!added) return print(`${makeVisibleLine(path)} was accepted before.`);
    print(
      `Sessions may work in ${makeVisibleLine(path)} from now on. To open one there:`,
      `  ${context.commandName} session create NAME --workspace ${makeVisibleLine(path)}`,
    );
  });
}

export function listWorkspaces(context: CommandContext): Promise<number> {
  return runOperatorTool('workspaces.list', {}, context, ({ workspaces }: InJson<WorkspaceList>) => {
    const { columns, paint, print } = context.terminal;
    const rows = workspaces.map(({ path, own, addedBy = '', rules, sessions }) =>
      [path, own ? 'the daemon' : addedBy, String(sessions), rulesStates[rules] ?? rules].map(makeVisibleLine),
    );
    const names = ['FOLDER', 'ACCEPTED BY', 'SESSIONS', 'PROJECT RULES'];
    const [header = '', ...body] = renderWrappedTable([names, ...rows], columns);
    print(paint('dim', header), ...body);
  });
}

/** Shows the rules of a project, asks, and puts exactly these in force. */
export function acceptProjectRules(folder: string, options: ConsentOptions, context: CommandContext): Promise<number> {
  const { print } = context.terminal;
  const path = folderOf(folder, context);
  return runSteps(context, async (step) => {
    const shown = await step<InJson<ProjectRulesReport>>('workspaces.show', { path });
    if (shown.rules === 'unreadable') throw usageFailure(`${shown.file} cannot be read, or is a link.`, 'Replace it.');
    if (shown.problem !== undefined) throw usageFailure(shown.problem, 'Nothing was changed.');
    if (shown.rules !== 'none' && shown.rules !== 'in-force') {
      if (!context.json) showRules(shown, context);
      await seekConsent(shown.text === undefined ? 'End them?' : 'Put these in force?', options, context);
    }
    const input = { path, sha256: shown.sha256 ?? '' };
    const accepted = await step<InJson<AcceptedRules>>('workspaces.accept', input, 'agreed');
    if (context.json) print(visibleJson(accepted));
    else print(describeAccepted(accepted, path));
    return exitCodes.success;
  });
}

function describeAccepted({ count, changed }: InJson<AcceptedRules>, path: string): string {
  const where = makeVisibleLine(path);
  if (!changed) return count === 0 ? `${where} has no rules.` : `The ${count} rules of ${where} are in force already.`;
  return count === 0 ? `No rules of ${where} are in force.` : `${count} rules of ${where} are in force.`;
}

function showRules(
  { file, text, acceptedText, acceptedAtMs, acceptedBy = '' }: InJson<ProjectRulesReport>,
  context: CommandContext,
): void {
  const { paint, print } = context.terminal;
  const show = (title: string, rules: string): void => {
    print(paint('dim', makeVisibleLine(title)), ...rules.split('\n').map((line) => `  ${makeVisible(line)}`));
  };
  if (acceptedText !== undefined) {
    show(`In force, as ${acceptedBy} accepted them ${formatTime(Number(acceptedAtMs))}:`, acceptedText);
  }
  if (text === undefined) print(`${makeVisibleLine(file)} is gone.`);
  else show(`${file}:`, text);
}

export function removeWorkspace(folder: string, context: CommandContext): Promise<number> {
  const input = { path: folderOf(folder, context) };
  return runOperatorTool(
    'workspaces.remove',
    input,
    context,
    ({ path, endedSessions: ended }: InJson<RemovedWorkspace>) => {
      const sessions = ended === 0 ? 'No session worked there.' : `${ended} sessions that worked there have ended.`;
      context.terminal.print(`${makeVisibleLine(path)} is not accepted any more. ${sessions}`);
    },
  );
}
