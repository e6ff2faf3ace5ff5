import type { AgentReport, InJson, OrganisationReport } from '@sallyport/contract';
import type { CommandContext } from '../../command-context.ts';
import { flag, text, withDefault, word } from '../../command-table.ts';
import { usageFailure } from '../../client/failure.ts';
import { agree, operatorCommand } from '../../client/run-tool.ts';
import { showFields } from '../sessions/lease.ts';
import { quoteForShell } from '../../terminal/command-name.ts';
import { printTable } from '../../terminal/table.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

type Organisation = InJson<OrganisationReport>;
type Members = Organisation['members'];

const named = { name: word('name') };
const person = { person: flag('the name is that of a person') };
const grantTarget = { agent: text('name', 'for this agent'), team: text('name', 'for the agents of this team') };

/** What a change is told as, once it is done. */
const say =
  <Values>(tell: (given: Values, context: CommandContext) => string | readonly string[]) =>
  (_: unknown, context: CommandContext, given: Values): void =>
    context.terminal.print(...[tell(given, context)].flat().map(makeVisibleLine));

const agentsOf = ({ members }: Organisation): Members => members.filter(({ kind }) => kind === 'agent');
const holdersOf = ({ members }: Organisation, role: string): Members => members.filter((each) => each.role === role);

export const agentCommands = [
  operatorCommand('list', {
    help: 'list the agents',
    tool: 'organisation.show',
    json: (organisation: Organisation) => ({ members: agentsOf(organisation) }),
    print: (organisation: Organisation, context) => showMembers(agentsOf(organisation), context),
  }),
  operatorCommand('add', {
    help: 'make an agent a member',
    arguments: named,
    options: {
      team: text('name', 'the team it joins'),
      role: withDefault(text('role', 'what it may use, as in roles.yaml'), 'worker'),
      senior: text('person', 'the person who decides about its calls, instead of the senior of the team'),
      seniorAgent: text('agent', 'the agent that decides about its calls where a rule names it'),
      ...agree,
    },
    tool: 'agents.create',
    print: say(({ name }, { commandName }) => [
      `Agent ${name} is a member. To let it in:`,
      `  ${commandName} session create ${quoteForShell(name)}`,
    ]),
  }),
  operatorCommand('show', {
    help: 'show an agent and its system prompt',
    arguments: named,
    tool: 'agents.show',
    print: (agent: InJson<AgentReport>, context) => showFields(agent, context),
  }),
  operatorCommand('remove', {
    help: 'remove an agent and end its sessions',
    arguments: named,
    options: agree,
    tool: 'agents.delete',
    print: say(({ name }) => `Agent ${name} is gone, and its sessions have ended.`),
  }),
];

export const teamCommands = [
  operatorCommand('list', {
    help: 'list the teams',
    tool: 'organisation.show',
    json: ({ teams }: Organisation) => ({ teams }),
    print: ({ teams, members }: Organisation, context) => {
      const membersOf = (team: string): string =>
        members.flatMap((member) => (member.team === team ? [member.name] : [])).join(' ');
      const rows = teams.map(({ name, senior = '' }) => [name, senior, membersOf(name)]);
      showRows(['TEAM', 'SENIOR', 'MEMBERS'], rows, context);
    },
  }),
  operatorCommand('add', {
    help: 'create a team, or change its senior',
    arguments: named,
    options: {
      senior: text('person', 'the person who decides about calls of its agents'),
      seniorAgent: text('agent', 'the agent that decides about calls of its agents where a rule names it'),
      ...agree,
    },
    tool: 'teams.put',
    print: say(({ name }) => `Team ${name} is there.`),
  }),
  operatorCommand('show', {
    help: 'show a team with its members',
    arguments: named,
    tool: 'organisation.show',
    input: () => ({}),
    json: findTeam,
    print: (organisation: Organisation, context, given) => {
      const { members, ...team } = findTeam(organisation, given);
      showFields(team, context);
      showMembers(members, context);
    },
  }),
  operatorCommand('remove', {
    help: 'remove a team; its members stay, without a team',
    arguments: named,
    options: agree,
    tool: 'teams.remove',
    print: say(({ name }) => `Team ${name} is gone.`),
  }),
];

export const roleCommands = [
  operatorCommand('list', {
    help: 'list who has which role',
    tool: 'organisation.show',
    json: ({ members }: Organisation) => ({ members }),
    print: ({ members }: Organisation, context) => showMembers(members, context),
  }),
  operatorCommand('add', {
    help: 'give an agent a role, or a person with --person',
    arguments: { role: word('role'), ...named },
    options: { ...person, ...agree },
    tool: 'roles.assign',
    input: ({ name, role, ...given }) => ({ kind: kindOf(given), name, role }),
    print: say(({ name, role }) => `${name} has the role ${role}.`),
  }),
  operatorCommand('show', {
    help: 'show who has a role',
    arguments: { role: word('role') },
    tool: 'organisation.show',
    input: () => ({}),
    json: (organisation: Organisation, { role }) => ({ role, members: holdersOf(organisation, role) }),
    print: (organisation: Organisation, context, { role }) => showMembers(holdersOf(organisation, role), context),
  }),
  operatorCommand('remove', {
    help: 'remove a role from an agent, or from a person with --person',
    arguments: named,
    options: { ...person, ...agree },
    tool: 'roles.unassign',
    input: ({ name, ...given }) => ({ kind: kindOf(given), name }),
    print: say(({ name }) => `${name} has no role of their own any more.`),
  }),
];

export const grantCommands = [
  operatorCommand('list', {
    help: 'list what was granted and revoked',
    tool: 'organisation.show',
    json: ({ permissions }: Organisation) => ({ permissions }),
    print: ({ permissions }: Organisation, context) => {
      const rows = permissions.map(({ level, subject, effect, by, tools }) => [level, subject, effect, by, tools]);
      showRows(['LEVEL', 'FOR', 'EFFECT', 'BY', 'TOOLS'], rows, context);
    },
  }),
  operatorCommand('add', {
    help: 'grant tools beyond the roles; without an option, to the whole organisation',
    arguments: { tools: word('tools') },
    options: { ...grantTarget, ...agree },
    tool: 'permissions.grant',
    input: readTarget,
    print: say(({ tools }) => `${tools} is granted from the next call on.`),
  }),
  operatorCommand('remove', {
    help: 'revoke tools, even if a role or another grant gives them',
    arguments: { tools: word('tools') },
    options: {
      ...grantTarget,
      inherit: flag('only remove the entry at this level, so that the level above applies'),
      ...agree,
    },
    tool: ({ inherit = false }) => (inherit ? 'permissions.clear' : 'permissions.revoke'),
    input: readTarget,
    print: say(
      ({ tools, inherit = false }) => `${tools} is ${inherit ? 'inherited' : 'revoked'} from the next call on.`,
    ),
  }),
  operatorCommand('show', {
    help: 'say whether an agent has a tool',
    arguments: { agent: word('agent'), tool: word('tool') },
    tool: 'permissions.check',
    print: (answer: object, context) => showFields(answer, context),
  }),
];

function findTeam({ teams, members }: Organisation, { name }: { readonly name: string }) {
  const team = teams.find((each) => each.name === name);
  if (team === undefined) throw usageFailure(`There is no team ${name}.`, '`team list` shows them.');
  return { ...team, members: members.filter((member) => member.team === name) };
}

function kindOf({ person: isPerson = false }: { readonly person?: boolean }): string {
  return isPerson ? 'person' : 'agent';
}

interface GrantTarget {
  readonly tools: string;
  readonly agent?: string;
  readonly team?: string;
}

function readTarget({ tools, agent, team }: GrantTarget): object {
  if (agent !== undefined && team !== undefined) throw usageFailure('Name an agent or a team, not both.');
  const level = agent !== undefined ? 'agent' : team !== undefined ? 'team' : 'organisation';
  return { level, subject: agent ?? team ?? '', tools };
}

function showMembers(members: Members, context: CommandContext): void {
  const rows = members.map(({ name, kind, role = '', team = '', senior = '' }) => [name, kind, role, team, senior]);
  showRows(['NAME', 'KIND', 'ROLE', 'TEAM', 'SENIOR'], rows, context);
}

function showRows(header: readonly string[], rows: readonly (readonly string[])[], { terminal }: CommandContext): void {
  if (rows.length === 0) terminal.print('There are no entries yet.');
  else printTable(terminal, header, rows);
}
