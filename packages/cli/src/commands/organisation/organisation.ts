import type { AgentReport, InJson, OrganisationReport } from '@sallyport/contract';
import { exitCodes } from '@sallyport/contract/codes';
import { outputOf, statusOf } from '../../client/answer-json.ts';
import type { CommandContext } from '../../command-context.ts';
import { usageFailure } from '../../client/failure.ts';
import { showFields } from '../sessions/lease.ts';
import { runSteps } from '../../client/run-steps.ts';
import type { ConsentOptions } from '../../client/run-steps.ts';
import { runOperatorTool } from '../../client/run-tool.ts';
import { showAnswer } from '../../client/show-answer.ts';
import { renderTable } from '../../terminal/table.ts';
import { quoteForShell } from '../../terminal/command-name.ts';
import { runCall } from '../tools/tool-invoke.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';

export interface SeniorOptions extends ConsentOptions {
  readonly senior?: string;
  readonly seniorAgent?: string;
}

export interface AgentAddOptions extends SeniorOptions {
  readonly team?: string;
  readonly role: string;
}

export interface GrantTarget extends ConsentOptions {
  readonly agent?: string;
  readonly team?: string;
}

export interface RoleOptions extends ConsentOptions {
  /** The name is that of a person. */
  readonly person?: boolean;
}

type Organisation = InJson<OrganisationReport>;
type Member = Organisation['members'][number];

export function listMembers(of: 'agent' | 'person' | 'all', context: CommandContext): Promise<number> {
  return readOrganisation(context, ({ members }) => {
    const chosen = members.filter(({ kind }) => of === 'all' || kind === of);
    return { value: { members: chosen }, show: () => showMembers(chosen, context) };
  });
}

export function showRole(role: string, context: CommandContext): Promise<number> {
  return readOrganisation(context, ({ members }) => {
    const holders = members.filter((member) => member.role === role);
    return { value: { role, members: holders }, show: () => showMembers(holders, context) };
  });
}

export function listTeams(context: CommandContext): Promise<number> {
  return readOrganisation(context, ({ teams, members }) => ({
    value: { teams },
    show: () =>
      showTable(
        ['TEAM', 'SENIOR', 'MEMBERS'],
        teams.map(({ name, senior = '' }) => [
          name,
          senior,
          members
            .filter(({ team }) => team === name)
            .map((member) => member.name)
            .join(' '),
        ]),
        context,
      ),
  }));
}

export function showTeam(name: string, context: CommandContext): Promise<number> {
  return readOrganisation(context, ({ teams, members }) => {
    const team = teams.find((each) => each.name === name);
    if (team === undefined) throw usageFailure(`There is no team ${name}.`, '`team list` shows them.');
    const chosen = members.filter((member) => member.team === name);
    return {
      value: { ...team, members: chosen },
      show: () => {
        showFields(team, context);
        showMembers(chosen, context);
      },
    };
  });
}

export function listPermissions(context: CommandContext): Promise<number> {
  return readOrganisation(context, ({ permissions }) => ({
    value: { permissions },
    show: () =>
      showTable(
        ['LEVEL', 'FOR', 'EFFECT', 'BY', 'TOOLS'],
        permissions.map(({ level, subject, effect, by, tools }) => [level, subject, effect, by, tools]),
        context,
      ),
  }));
}

export function addAgent(name: string, options: AgentAddOptions, context: CommandContext): Promise<number> {
  const { seniorAgent, yes, ...more } = options;
  const input = { name, ...more, senior_agent: seniorAgent };
  const done = [
    `Agent ${name} is a member. To let it in:`,
    `  ${context.commandName} session create ${quoteForShell(name)}`,
  ];
  return change('agents.create', input, done, { yes }, context);
}

export function showAgent(name: string, context: CommandContext): Promise<number> {
  return runOperatorTool('agents.show', { name }, context, (agent: InJson<AgentReport>) => showFields(agent, context));
}

export function removeAgent(name: string, options: ConsentOptions, context: CommandContext): Promise<number> {
  return change('agents.delete', { name }, `Agent ${name} is gone, and its sessions have ended.`, options, context);
}

export function addTeam(name: string, options: SeniorOptions, context: CommandContext): Promise<number> {
  const { senior, seniorAgent } = options;
  return change('teams.put', { name, senior, senior_agent: seniorAgent }, `Team ${name} is there.`, options, context);
}

export function removeTeam(name: string, options: ConsentOptions, context: CommandContext): Promise<number> {
  return change('teams.remove', { name }, `Team ${name} is gone.`, options, context);
}

export function assignRole(role: string, name: string, options: RoleOptions, context: CommandContext): Promise<number> {
  const kind = options.person === true ? 'person' : 'agent';
  return change('roles.assign', { kind, name, role }, `${name} has the role ${role}.`, options, context);
}

export function unassignRole(name: string, options: RoleOptions, context: CommandContext): Promise<number> {
  const kind = options.person === true ? 'person' : 'agent';
  return change('roles.unassign', { kind, name }, `${name} has no role of their own any more.`, options, context);
}

export function changePermission(
  how: 'grant' | 'revoke' | 'clear',
  tools: string,
  { agent, team, yes }: GrantTarget,
  context: CommandContext,
): Promise<number> {
  if (agent !== undefined && team !== undefined) throw usageFailure('Name an agent or a team, not both.');
  const level = agent !== undefined ? 'agent' : team !== undefined ? 'team' : 'organisation';
  const input = { level, subject: agent ?? team ?? '', tools };
  const done = { grant: 'granted', revoke: 'revoked', clear: 'inherited' }[how];
  return change(`permissions.${how}`, input, `${tools} is ${done} from the next call on.`, { yes }, context);
}

export function checkPermission(agent: string, tool: string, context: CommandContext): Promise<number> {
  return runOperatorTool('permissions.check', { agent, tool }, context, (answer: object) =>
    showFields(answer, context),
  );
}

/** With --yes a script agrees to what a person at the terminal is asked. */
function change(
  tool: string,
  input: object,
  done: string | readonly string[],
  { yes = false }: { readonly yes?: boolean | undefined },
  context: CommandContext,
): Promise<number> {
  return runSteps(context, async (step) => {
    const output = await step<object>(tool, input, yes ? 'agreed' : undefined);
    context.terminal.print(...(context.json ? [visibleJson(output)] : [done].flat().map(makeVisibleLine)));
    return exitCodes.success;
  });
}

/** One part of the organisation: as JSON when asked, else as it shows itself. */
async function readOrganisation(
  context: CommandContext,
  choose: (organisation: Organisation) => { readonly value: object; readonly show: () => void },
): Promise<number> {
  context.openOperatorClient();
  const answer = await runCall({ name: 'organisation.show', inputJson: '{}' }, context);
  if (statusOf(answer) !== 'success') return showAnswer(answer, context);
  const { value, show } = choose(outputOf(answer) as Organisation);
  if (context.json) context.terminal.print(visibleJson(value));
  else show();
  return exitCodes.success;
}

function showMembers(members: readonly Member[], context: CommandContext): void {
  const rows = members.map(({ name, kind, role = '', team = '', senior = '' }) => [name, kind, role, team, senior]);
  showTable(['NAME', 'KIND', 'ROLE', 'TEAM', 'SENIOR'], rows, context);
}

function showTable(header: readonly string[], rows: readonly (readonly string[])[], context: CommandContext): void {
  const { columns, paint, print } = context.terminal;
  if (rows.length === 0) return print('There are no entries yet.');
  const visible = rows.map((row) => row.map(makeVisibleLine));
  const [first = '', ...body] = renderTable([header, ...visible], columns);
  print(paint('dim', first), ...body);
}
