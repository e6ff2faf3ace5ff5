import type { Command } from 'commander';
import type { ConsentOptions } from '../../client/run-steps.ts';
import type { Run } from '../../program.ts';

type Start = (command: Parameters<Run>[1]) => Promise<void>;

/** `workspace`: the folders that sessions may work in. */
export function addWorkspaceCommands(program: Command, start: Start): void {
  const workspace = program.command('workspace').description('manage the folders that sessions may work in');
  workspace
    .command('add <folder>')
    .description('accept a project folder: sessions opened for it work there')
    .action((folder: string) =>
      start(async (context) => (await import('./workspace.ts')).addWorkspace(folder, context)),
    );
  workspace
    .command('list')
    .description('list the accepted folders, and whether the rules of their projects are in force')
    .action(() => start(async (context) => (await import('./workspace.ts')).listWorkspaces(context)));
  workspace
    .command('accept <folder>')
    .description('show the rules of a project (.sallyport/rules.yaml), ask, and put them in force as they are now')
    .option('--yes', 'ask nothing')
    .action((folder: string, options: ConsentOptions) =>
      start(async (context) => (await import('./workspace.ts')).acceptProjectRules(folder, options, context)),
    );
  workspace
    .command('remove <folder>')
    .description('take an accepted folder back, and end the sessions that work in it')
    .action((folder: string) =>
      start(async (context) => (await import('./workspace.ts')).removeWorkspace(folder, context)),
    );
}
