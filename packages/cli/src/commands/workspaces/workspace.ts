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
import { command, flag, word } from '../../command-table.ts';
import type { Given } from '../../command-table.ts';
import { usageFailure } from '../../client/failure.ts';
import { runSteps, seekConsent } from '../../client/run-steps.ts';
import { operatorCommand } from '../../client/run-tool.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { printTable, renderWrappedTable } from '../../terminal/table.ts';
import { makeVisible, makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';

const rulesStates: Readonly<Record<string, string>> = {
  none: 'none',
  waiting: 'not accepted',
  'in-force': 'in force',
  changed: 'changed since accepted',
  gone: 'file is gone, accepted ones in force',
  unreadable: 'file cannot be read',
};

const folder = { folder: word('folder', { completes: 'files' }) };
const yes = { yes: flag('do not ask') };

/** Folders are given as people stand: relative to where they are. */
const pathOf = (given: { readonly folder: string }, { config }: CommandContext) => ({
  path: resolve(config.startFolder, given.folder),
});

export const workspaceCommands = [
  operatorCommand('add', {
    help: 'accept a project folder: sessions opened for it work there',
    arguments: folder,
    tool: 'workspaces.add',
    input: pathOf,
    print: ({ path, added }: InJson<AddedWorkspace>, { terminal: { print }, commandName }) => {
      if (!added) return print(`${makeVisibleLine(path)} was accepted before.`);
      print(
        `Sessions may work in ${makeVisibleLine(path)} from now on. To open one there:`,
        `  ${commandName} session create NAME --workspace ${makeVisibleLine(path)}`,
      );
    },
  }),
  operatorCommand('list', {
    help: 'list the accepted folders, and whether the rules of their projects are in force',
    tool: 'workspaces.list',
    print: ({ workspaces }: InJson<WorkspaceList>, { terminal }) => {
      const rows = workspaces.map(({ path, own, addedBy = '', rules, sessions }) => [
        ...[path, own ? 'the daemon' : addedBy],
        ...[String(sessions), rulesStates[rules] ?? rules],
      ]);
      printTable(terminal, ['FOLDER', 'ACCEPTED BY', 'SESSIONS', 'PROJECT RULES'], rows, renderWrappedTable);
    },
  }),
  command('accept', {
    help: 'show the rules of a project (.sallyport/rules.yaml), ask, and put them in force as they are now',
    arguments: folder,
    options: yes,
    run: acceptProjectRules,
  }),
  operatorCommand('remove', {
    help: 'stop accepting a folder, and end the sessions that work in it',
    arguments: folder,
    tool: 'workspaces.remove',
    input: pathOf,
    print: ({ path, endedSessions: ended }: InJson<RemovedWorkspace>, { terminal }) => {
      const sessions = ended === 0 ? 'No session worked there.' : `${ended} sessions that worked there have ended.`;
      terminal.print(`${makeVisibleLine(path)} is not accepted any more. ${sessions}`);
    },
  }),
];

/** Shows the rules of a project, asks, and puts exactly these in force. */
function acceptProjectRules(given: Given<typeof folder, typeof yes>, context: CommandContext): Promise<number> {
  const { print } = context.terminal;
  const { path } = pathOf(given, context);
  return runSteps(context, async (step) => {
    const shown = await step<InJson<ProjectRulesReport>>('workspaces.show', { path });
    if (shown.rules === 'unreadable') throw usageFailure(`${shown.file} cannot be read, or is a link.`, 'Replace it.');
    if (shown.problem !== undefined) throw usageFailure(shown.problem, 'Nothing was changed.');
    if (shown.rules !== 'none' && shown.rules !== 'in-force') {
      if (!context.json) showRules(shown, context);
      await seekConsent(shown.text === undefined ? 'End them?' : 'Put these in force?', given, context);
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
