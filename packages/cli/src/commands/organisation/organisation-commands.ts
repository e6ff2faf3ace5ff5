import type { Command } from 'commander';
import type { AgentAddOptions, GrantTarget, RoleOptions, SeniorOptions } from './organisation.ts';
import type { ConsentOptions } from '../../client/run-steps.ts';
import type { Run } from '../../program.ts';

type Start = (command: Parameters<Run>[1]) => Promise<void>;

const load = () => import('./organisation.ts');

/** `agent`, `team`, `role` and `grant`: who works here, and what they may use. */
export function addOrganisationCommands(program: Command, start: Start): void {
  addAgentCommands(program, start);
  addTeamCommands(program, start);
  addRoleCommands(program, start);
  addGrantCommands(program, start);
}

function addAgentCommands(program: Command, start: Start): void {
  const agent = program.command('agent').description('manage the agents of the organisation');
  agent
    .command('list')
    .description('list the agents')
    .action(() => start(async (context) => (await load()).listMembers('agent', context)));
  agent
    .command('add <name>')
    .description('make an agent a member')
    .option('--team <name>', 'the team it joins')
    .option('--role <role>', 'what it may use, as in roles.yaml', 'worker')
    .option('--senior <person>', 'the person who decides about its calls, instead of the senior of the team')
    .option('--senior-agent <agent>', 'the agent that decides about its calls where a rule names it')
    .option('--yes', 'agree without being asked, for scripts')
    .action((name: string, options: AgentAddOptions) =>
      start(async (context) => (await load()).addAgent(name, options, context)),
    );
  agent
    .command('show <name>')
    .description('show an agent and its system prompt')
    .action((name: string) => start(async (context) => (await load()).showAgent(name, context)));
  agent
    .command('remove <name>')
    .description('remove an agent and end its sessions')
    .option('--yes', 'agree without being asked, for scripts')
    .action((name: string, options: ConsentOptions) =>
      start(async (context) => (await load()).removeAgent(name, options, context)),
    );
}

function addTeamCommands(program: Command, start: Start): void {
  const team = program.command('team').description('manage the teams');
  team
    .command('list')
    .description('list the teams')
    .action(() => start(async (context) => (await load()).listTeams(context)));
  team
    .command('add <name>')
    .description('create a team, or change its senior')
    .option('--senior <person>', 'the person who decides about calls of its agents')
    .option('--senior-agent <agent>', 'the agent that decides about calls of its agents where a rule names it')
    .option('--yes', 'agree without being asked, for scripts')
    .action((name: string, options: SeniorOptions) =>
      start(async (context) => (await load()).addTeam(name, options, context)),
    );
  team
    .command('show <name>')
    .description('show a team with its members')
    .action((name: string) => start(async (context) => (await load()).showTeam(name, context)));
  team
    .command('remove <name>')
    .description('remove a team; its members stay, without a team')
    .option('--yes', 'agree without being asked, for scripts')
    .action((name: string, options: ConsentOptions) =>
      start(async (context) => (await load()).removeTeam(name, options, context)),
    );
}

function addRoleCommands(program: Command, start: Start): void {
  const role = program.command('role').description('manage who has which role');
  role
    .command('list')
    .description('list who has which role')
    .action(() => start(async (context) => (await load()).listMembers('all', context)));
  role
    .command('add <role> <name>')
    .description('give an agent a role, or a person with --person')
    .option('--person', 'the name is that of a person')
    .option('--yes', 'agree without being asked, for scripts')
    .action((name: string, member: string, options: RoleOptions) =>
      start(async (context) => (await load()).assignRole(name, member, options, context)),
    );
  role
    .command('show <role>')
    .description('show who has a role')
    .action((name: string) => start(async (context) => (await load()).showRole(name, context)));
  role
    .command('remove <name>')
    .description('remove a role from an agent, or from a person with --person')
    .option('--person', 'the name is that of a person')
    .option('--yes', 'agree without being asked, for scripts')
    .action((member: string, options: RoleOptions) =>
      start(async (context) => (await load()).unassignRole(member, options, context)),
    );
}

function addGrantCommands(program: Command, start: Start): void {
  const grant = program.command('grant').description('grant and revoke tools');
  const withTarget = (command: Command): Command =>
    command.option('--agent <name>', 'for this agent').option('--team <name>', 'for the agents of this team');
  grant
    .command('list')
    .description('list what was granted and revoked')
    .action(() => start(async (context) => (await load()).listPermissions(context)));
  withTarget(grant.command('add <tools>'))
    .description('grant tools beyond the roles; without an option, to the whole organisation')
    .option('--yes', 'agree without being asked, for scripts')
    .action((tools: string, target: GrantTarget) =>
      start(async (context) => (await load()).changePermission('grant', tools, target, context)),
    );
  withTarget(grant.command('remove <tools>'))
    .description('revoke tools, even if a role or another grant gives them')
    .option('--inherit', 'only remove the entry at this level, so that the level above applies')
    .option('--yes', 'agree without being asked, for scripts')
    .action((tools: string, { inherit, ...target }: GrantTarget & { inherit?: boolean }) =>
      start(async (context) =>
        (await load()).changePermission(inherit === true ? 'clear' : 'revoke', tools, target, context),
      ),
    );
  grant
    .command('show <agent> <tool>')
    .description('say whether an agent has a tool')
    .action((agent: string, tool: string) =>
      start(async (context) => (await load()).checkPermission(agent, tool, context)),
    );
}
