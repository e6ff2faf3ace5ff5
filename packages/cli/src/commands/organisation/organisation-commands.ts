import { command, flag, text, withDefault, word } from '../../command-table.ts';
import * as organisation from './organisation.ts';

const name = { name: word('name') };
const yes = flag('agree without being asked, for scripts');
const person = flag('the name is that of a person');
const target = { agent: text('name', 'for this agent'), team: text('name', 'for the agents of this team') };

export const agentCommands = [
  command('list', { help: 'list the agents', run: (_, context) => organisation.listMembers('agent', context) }),
  command('add', {
    help: 'make an agent a member',
    arguments: name,
    options: {
      team: text('name', 'the team it joins'),
      role: withDefault(text('role', 'what it may use, as in roles.yaml'), 'worker'),
      senior: text('person', 'the person who decides about its calls, instead of the senior of the team'),
      seniorAgent: text('agent', 'the agent that decides about its calls where a rule names it'),
      yes,
    },
    run: ({ name: agent, ...options }, context) => organisation.addAgent(agent, options, context),
  }),
  command('show', {
    help: 'show an agent and its system prompt',
    arguments: name,
    run: (given, context) => organisation.showAgent(given.name, context),
  }),
  command('remove', {
    help: 'remove an agent and end its sessions',
    arguments: name,
    options: { yes },
    run: (given, context) => organisation.removeAgent(given.name, given, context),
  }),
];

export const teamCommands = [
  command('list', { help: 'list the teams', run: (_, context) => organisation.listTeams(context) }),
  command('add', {
    help: 'create a team, or change its senior',
    arguments: name,
    options: {
      senior: text('person', 'the person who decides about calls of its agents'),
      seniorAgent: text('agent', 'the agent that decides about calls of its agents where a rule names it'),
      yes,
    },
    run: (given, context) => organisation.addTeam(given.name, given, context),
  }),
  command('show', {
    help: 'show a team with its members',
    arguments: name,
    run: (given, context) => organisation.showTeam(given.name, context),
  }),
  command('remove', {
    help: 'remove a team; its members stay, without a team',
    arguments: name,
    options: { yes },
    run: (given, context) => organisation.removeTeam(given.name, given, context),
  }),
];

export const roleCommands = [
  command('list', { help: 'list who has which role', run: (_, context) => organisation.listMembers('all', context) }),
  command('add', {
    help: 'give an agent a role, or a person with --person',
    arguments: { role: word('role'), ...name },
    options: { person, yes },
    run: (given, context) => organisation.assignRole(given.role, given.name, given, context),
  }),
  command('show', {
    help: 'show who has a role',
    arguments: { role: word('role') },
    run: ({ role }, context) => organisation.showRole(role, context),
  }),
  command('remove', {
    help: 'remove a role from an agent, or from a person with --person',
    arguments: name,
    options: { person, yes },
    run: (given, context) => organisation.unassignRole(given.name, given, context),
  }),
];

export const grantCommands = [
  command('list', {
    help: 'list what was granted and revoked',
    run: (_, context) => organisation.listPermissions(context),
  }),
  command('add', {
    help: 'grant tools beyond the roles; without an option, to the whole organisation',
    arguments: { tools: word('tools') },
    options: { ...target, yes },
    run: ({ tools, ...to }, context) => organisation.changePermission('grant', tools, to, context),
  }),
  command('remove', {
    help: 'revoke tools, even if a role or another grant gives them',
    arguments: { tools: word('tools') },
    options: {
      ...target,
      inherit: flag('only remove the entry at this level, so that the level above applies'),
      yes,
    },
    run: ({ tools, inherit = false, ...from }, context) =>
      organisation.changePermission(inherit ? 'clear' : 'revoke', tools, from, context),
  }),
  command('show', {
    help: 'say whether an agent has a tool',
    arguments: { agent: word('agent'), tool: word('tool') },
    run: ({ agent, tool }, context) => organisation.checkPermission(agent, tool, context),
  }),
];
