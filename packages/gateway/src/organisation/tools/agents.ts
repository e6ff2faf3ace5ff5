import { AgentReportSchema, ChangedPromptSchema, MemberSchema, RemovedMemberSchema } from '@sallyport/contract';
import type { InJson, Member as MemberMessage } from '@sallyport/contract';
import type { Member } from '../../call/organisation.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { AnyTool } from '../../call/tool.ts';
import { findMember } from '../check-member.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import { defineChanging, missing, nameOf, readSeniors, seniorAgentProperty } from './define-organisation-tool.ts';
import type { OrganisationToolParts } from './define-organisation-tool.ts';
import * as schema from '../../registry/schemas/schema.ts';

const agentName = nameOf('Name of the agent, as in its sessions.');
const promptProperty = schema.string('System prompt of the agent. Empty: none.', { maxLength: 32_768 });
export const roleProperty = schema.string('As in roles.yaml: worker, manager, director or one of your own.', {
  pattern: '^[a-z][a-z0-9_-]{0,63}$',
});

/** Agents as members: their team, role, senior and system prompt. */
export function agentTools(parts: OrganisationToolParts): readonly AnyTool[] {
  return [createTool(parts), deleteTool(parts), promptTool(parts), showTool(parts)];
}

function createTool({ store, offices }: OrganisationToolParts) {
  return defineChanging(offices, {
    name: 'agents.create',
    alias: 'create_agent',
    description: 'Makes an agent a member. A session for it is made with sessions.create.',
    properties: {
      name: agentName,
      team: nameOf('Name of the team. Absent: no team.'),
      role: { ...roleProperty, default: 'worker' },
      senior: nameOf('The person who decides about its calls. Absent: the senior of its team.'),
      senior_agent: seniorAgentProperty('Absent: the senior agent of its team.'),
      system_prompt: promptProperty,
    },
    required: ['name'],
    answers: MemberSchema,
    tell: ({ name, role, team }) => `Add agent ${name} as ${role}${team === undefined ? '' : ` to team ${team}`}.`,
    change: async ({ name, team, role, system_prompt: systemPrompt, ...seniors }) => {
      const organisation = store.readOrganisation();
      if (findMember(organisation, 'agent', name) !== undefined) {
        throw new ToolFailure('ALREADY_EXISTS', `Agent ${name} is already a member.`);
      }
      if (team !== undefined && !organisation.teams.some((each) => each.name === team)) throw missing('team', team);
      const member: Member = {
        kind: 'agent',
        name,
        role,
        ...(team === undefined ? {} : { team }),
        ...readSeniors(store, seniors),
        ...(systemPrompt === undefined ? {} : { systemPrompt }),
        addedAtMs: Date.now(),
      };
      await store.changeOrganisation({ kind: 'put-member', member });
      return describeMember(member);
    },
  });
}

function deleteTool({ store, offices, endSession }: OrganisationToolParts) {
  return defineChanging(offices, {
    name: 'agents.delete',
    alias: 'delete_agent',
    description: 'Removes an agent, with what was granted to it, and ends its sessions.',
    properties: { name: agentName },
    required: ['name'],
    answers: RemovedMemberSchema,
    tell: ({ name }) => `Remove agent ${name} and end its sessions.`,
    change: async ({ name }, context) => {
      if (!(await store.changeOrganisation({ kind: 'remove-member', of: 'agent', name }))) throw missing('agent', name);
      const open = store
        .liveSessions()
        .filter(({ principal, agent, status }) => principal === 'agent' && agent === name && status !== 'ended');
      for (const { id } of open) await endSession(id, context.session.agent);
      return { name, removed: true, endedSessions: open.length };
    },
  });
}

function promptTool({ store, offices }: OrganisationToolParts) {
  return defineChanging(offices, {
    name: 'agents.set_prompt',
    alias: 'modify_system_prompt',
    description: 'Changes the system prompt that is kept for an agent.',
    properties: { name: agentName, system_prompt: promptProperty },
    required: ['name', 'system_prompt'],
    answers: ChangedPromptSchema,
    tell: ({ name }) => `Change the system prompt of ${name}.`,
    change: async ({ name, system_prompt: systemPrompt }) => {
      const found = findMember(store.readOrganisation(), 'agent', name);
      if (found === undefined) throw missing('agent', name);
      const { systemPrompt: _, ...member } = found;
      await store.changeOrganisation({
        kind: 'put-member',
        member: systemPrompt === '' ? member : { ...member, systemPrompt },
      });
      return { name, characters: systemPrompt.length };
    },
  });
}

function showTool({ store, offices, rolesOf }: OrganisationToolParts) {
  return defineOperatorTool({
    name: 'agents.show',
    description: 'Shows an agent: team, role, senior and system prompt.',
    mutates: false,
    properties: { name: agentName },
    required: ['name'],
    answers: AgentReportSchema,
    run: ({ name }) => {
      const organisation = store.readOrganisation();
      const found = findMember(organisation, 'agent', name);
      if (found === undefined) throw missing('agent', name);
      const { role, systemPrompt = '' } = found;
      const [senior, seniorAgent] = [offices.seniorOf(name), offices.seniorAgentOf(name)];
      return {
        agent: { ...describeMember(found), ...(senior && { senior }), ...(seniorAgent && { seniorAgent }) },
        roles: role === undefined ? rolesOf(name, organisation.settings.profile) : [role],
        systemPrompt,
      };
    },
    summarize: ({ name }) => `agent ${name}`,
  });
}

/** Without the system prompt, which may be long. */
export function describeMember({ systemPrompt: _systemPrompt, addedAtMs, ...member }: Member): InJson<MemberMessage> {
  return { ...member, addedAtMs: String(addedAtMs) };
}
