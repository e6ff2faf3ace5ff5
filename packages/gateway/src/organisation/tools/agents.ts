import type { JsonObject } from '@sallyport/contract';
import type { Member } from '../../call/organisation.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { AnyTool } from '../../call/tool.ts';
import { findMember } from '../check-member.ts';
import { defineChanging, defineReading, missing, nameOf } from './define-organisation-tool.ts';
import type { OrganisationToolParts } from './define-organisation-tool.ts';
import { requireAgent, requirePerson, seniorAgentProperty } from './require-senior.ts';

interface NewAgent {
  readonly name: string;
  readonly team?: string;
  readonly role: string;
  readonly senior?: string;
  readonly senior_agent?: string;
  readonly system_prompt?: string;
}

const agentName = nameOf('Name of the agent, as in its sessions.');
const promptProperty: JsonObject = {
  type: 'string',
  maxLength: 32_768,
  description: 'What the agent is told to be. Empty: nothing.',
};
export const roleProperty: JsonObject = {
  type: 'string',
  pattern: '^[a-z][a-z0-9_-]{0,63}$',
  description: 'As in roles.yaml: worker, manager, director or one of your own.',
};

/** Agents as members: their team, role, senior and system prompt. */
export function agentTools(parts: OrganisationToolParts): readonly AnyTool[] {
  return [createTool(parts), deleteTool(parts), promptTool(parts), showTool(parts)] as unknown as AnyTool[];
}

function createTool({ store, offices }: OrganisationToolParts) {
  return defineChanging<NewAgent>(offices, {
    name: 'agents.create',
    alias: 'create_agent',
    description: 'Makes an agent a member. A session for it is made with sessions.create.',
    properties: {
      name: agentName,
      team: nameOf('Absent: in none.'),
      role: { ...roleProperty, default: 'worker' },
      senior: nameOf('The person who decides about its calls. Absent: that of the team.'),
      senior_agent: seniorAgentProperty('Absent: that of the team.'),
      system_prompt: promptProperty,
    },
    required: ['name'],
    tell: ({ name, role, team }) => `Add agent ${name} as ${role}${team === undefined ? '' : ` to team ${team}`}.`,
    change: async ({ name, team, role, senior, senior_agent: seniorAgent, system_prompt: systemPrompt }) => {
      const organisation = store.readOrganisation();
      if (findMember(organisation, 'agent', name) !== undefined) {
        throw new ToolFailure('ALREADY_EXISTS', `Agent ${name} is a member already.`);
      }
      if (team !== undefined && !organisation.teams.some((each) => each.name === team)) throw missing('team', team);
      if (senior !== undefined) requirePerson(store, senior);
      if (seniorAgent !== undefined) requireAgent(organisation, seniorAgent);
      const member: Member = {
        kind: 'agent',
        name,
        role,
        ...(team === undefined ? {} : { team }),
        ...(senior === undefined ? {} : { senior }),
        ...(seniorAgent === undefined ? {} : { seniorAgent }),
        ...(systemPrompt === undefined ? {} : { systemPrompt }),
        addedAtMs: Date.now(),
      };
      await store.changeOrganisation({ kind: 'put-member', member });
      return describeMember(member);
    },
  });
}

function deleteTool({ store, offices, endSession }: OrganisationToolParts) {
  return defineChanging<{ readonly name: string }>(offices, {
    name: 'agents.delete',
    alias: 'delete_agent',
    description: 'Removes an agent, with what was granted to it, and ends its sessions.',
    properties: { name: agentName },
    required: ['name'],
    tell: ({ name }) => `Remove agent ${name} and end its sessions.`,
    change: async ({ name }, context) => {
      if (!(await store.changeOrganisation({ kind: 'remove-member', of: 'agent', name }))) throw missing('agent', name);
      const open = store
        .liveSessions()
        .filter(({ principal, agent, status }) => principal === 'agent' && agent === name && status !== 'ended');
      for (const { id } of open) await endSession(id, context.session.agent);
      return { name, removed: true, ended_sessions: open.length };
    },
  });
}

function promptTool({ store, offices }: OrganisationToolParts) {
  return defineChanging<{ readonly name: string; readonly system_prompt: string }>(offices, {
    name: 'agents.set_prompt',
    alias: 'modify_system_prompt',
    description: 'Changes the system prompt that is kept for an agent.',
    properties: { name: agentName, system_prompt: promptProperty },
    required: ['name', 'system_prompt'],
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
  return defineReading<{ readonly name: string }>({
    name: 'agents.show',
    description: 'Shows an agent: team, role, senior and system prompt.',
    properties: { name: agentName },
    required: ['name'],
    read: ({ name }) => {
      const member = findMember(store.readOrganisation(), 'agent', name);
      if (member === undefined) throw missing('agent', name);
      const [senior, seniorAgent] = [offices.seniorOf(name), offices.seniorAgentOf(name)];
      return {
        ...describeMember(member),
        roles:
          member.role === undefined ? [...rolesOf(name, store.readOrganisation().settings.profile)] : [member.role],
        ...(senior === undefined ? {} : { senior }),
        ...(seniorAgent === undefined ? {} : { senior_agent: seniorAgent }),
        system_prompt: member.systemPrompt ?? '',
      };
    },
  });
}

/** Without the system prompt, which may be long. */
export function describeMember({ kind, name, team, role, senior, seniorAgent, addedAtMs }: Member): JsonObject {
  return {
    kind,
    name,
    ...(team === undefined ? {} : { team }),
    ...(role === undefined ? {} : { role }),
    ...(senior === undefined ? {} : { senior }),
    ...(seniorAgent === undefined ? {} : { senior_agent: seniorAgent }),
    added_at: new Date(addedAtMs).toISOString(),
  };
}
