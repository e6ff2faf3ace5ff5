import { permissionLevels } from '../../call/organisation.ts';
import type { Organisation, Permission, PermissionLevel } from '../../call/organisation.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { AnyTool, Tool } from '../../call/tool.ts';
import { checkMember } from '../check-member.ts';
import { defineChanging, defineReading, missing, nameOf, toolsProperty } from './define-organisation-tool.ts';
import type { OrganisationToolParts } from './define-organisation-tool.ts';

interface Target {
  readonly level: PermissionLevel;
  readonly subject: string;
  readonly tools: string;
}

const targetProperties = {
  level: { enum: permissionLevels, description: 'For whom.' },
  subject: { type: 'string', maxLength: 128, default: '', description: 'The team or agent. Empty: the organisation.' },
  tools: toolsProperty,
};

/** Granting tools and taking them away, for the organisation, a team or an agent. */
export function permissionTools(parts: OrganisationToolParts): readonly AnyTool[] {
  return [
    effectTool(parts, 'granted'),
    effectTool(parts, 'revoked'),
    clearTool(parts),
    checkTool(parts),
  ] as unknown as AnyTool[];
}

function effectTool({ store, offices }: OrganisationToolParts, effect: Permission['effect']): Tool<Target> {
  const isGrant = effect === 'granted';
  return defineChanging<Target>(offices, {
    name: isGrant ? 'permissions.grant' : 'permissions.revoke',
    alias: isGrant ? 'grant_permission' : 'revoke_permission',
    description: isGrant
      ? 'Grants tools beyond the roles. The rules still decide about each call.'
      : 'Takes tools away, whatever roles and grants below say.',
    properties: targetProperties,
    required: ['level', 'tools'],
    tell: (target) => `${isGrant ? 'Grant' : 'Revoke'} ${target.tools} for ${describeTarget(target)}.`,
    change: async (target, { session }) => {
      requireSubject(store.readOrganisation(), target);
      const permission = { ...target, effect, by: session.agent, atMs: Date.now() };
      await store.changeOrganisation({ kind: 'put-permission', permission });
      return { ...target, effect };
    },
  });
}

function clearTool({ store, offices }: OrganisationToolParts): Tool<Target> {
  return defineChanging<Target>(offices, {
    name: 'permissions.clear',
    description: 'Forgets what was said about tools here. What is above then counts.',
    properties: targetProperties,
    required: ['level', 'tools'],
    tell: (target) => `Forget what was said about ${target.tools} for ${describeTarget(target)}.`,
    change: async (target) => {
      if (!(await store.changeOrganisation({ kind: 'remove-permission', permission: target }))) {
        throw new ToolFailure('NOT_FOUND', `Nothing was said about ${target.tools} for ${describeTarget(target)}.`);
      }
      return { ...target, effect: 'inherited' };
    },
  });
}

function checkTool({ store, rolesOf }: OrganisationToolParts): Tool<{ readonly agent: string; readonly tool: string }> {
  return defineReading({
    name: 'permissions.check',
    description: 'Says whether an agent has a tool: granted, revoked, or as its roles and the rules decide.',
    properties: { agent: nameOf('Name of the agent.'), tool: nameOf('Canonical name of the tool.') },
    required: ['agent', 'tool'],
    read: ({ agent, tool }) => {
      const check = checkMember(store.readOrganisation(), agent, tool);
      if (!check.allowed) {
        const at = check.because === 'revoked' ? { at: describeTarget(check.permission) } : {};
        return { agent, tool, answer: check.because, ...at };
      }
      const { profile, roles = rolesOf(agent, profile), toolGranted } = check.membership;
      return { agent, tool, answer: toolGranted === true ? 'granted' : 'by-role', roles: [...roles] };
    },
  });
}

/** A name that is misspelt must not look like a decision. Agents need not be members under the profile personal. */
function requireSubject({ teams, members, settings }: Organisation, { level, subject }: Target): void {
  if (level === 'organisation') {
    if (subject === '') return;
    throw new ToolFailure('EXECUTION_ERROR', 'For the organisation as a whole, leave the subject out.');
  }
  if (subject === '') throw new ToolFailure('EXECUTION_ERROR', `Name the ${level}.`);
  if (level === 'team' && !teams.some(({ name }) => name === subject)) throw missing('team', subject);
  const isMember = members.some(({ kind, name }) => kind === 'agent' && name === subject);
  if (level === 'agent' && settings.profile === 'team' && !isMember) throw missing('agent', subject);
}

function describeTarget({ level, subject }: Pick<Target, 'level' | 'subject'>): string {
  return level === 'organisation' ? 'the organisation' : `${level} ${subject}`;
}
