import { command, flag, word } from '../../command-table.ts';
import { acceptProjectRules, addWorkspace, listWorkspaces, removeWorkspace } from './workspace.ts';

const folder = { folder: word('folder', { completes: 'files' }) };

export const workspaceCommands = [
  command('add', {
    help: 'accept a project folder: sessions opened for it work there',
    arguments: folder,
    run: (given, context) => addWorkspace(given.folder, context),
  }),
  command('list', {
    help: 'list the accepted folders, and whether the rules of their projects are in force',
    run: (_, context) => listWorkspaces(context),
  }),
  command('accept', {
    help: 'show the rules of a project (.sallyport/rules.yaml), ask, and put them in force as they are now',
    arguments: folder,
    options: { yes: flag('ask nothing') },
    run: (given, context) => acceptProjectRules(given.folder, given, context),
  }),
  command('remove', {
    help: 'take an accepted folder back, and end the sessions that work in it',
    arguments: folder,
    run: (given, context) => removeWorkspace(given.folder, context),
  }),
];
