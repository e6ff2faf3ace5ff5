import { PermissionCheckSchema, PermissionSchema } from '@sallyport/contract';
import type { InJson, Permission as PermissionMessage } from '@sallyport/contract';
import { permissionLevels } from '../../call/organisation.ts';
import type { Organisation, Permission, PermissionLevel } from '../../call/organisation.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { AnyTool } from '../../call/tool.ts';
import { checkMember } from '../check-member.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import { defineChanging, missing, nameOf } from './define-organisation-tool.ts';
import type { OrganisationToolParts } from './define-organisation-tool.ts';
import * as schema from '../../registry/schemas/schema.ts';

interface Target {
  readonly level: PermissionLevel;
  readonly subject: string;
  readonly tools: string;
}

const targetProperties = {
  level: { enum: permissionLevels, description: 'Whom it applies to.' },
  subject: schema.string('The team or agent. Empty: the organisation.', { maxLength: 128, default: '' }),
  tools: schema.string('A canonical name such as files.write; * stands for any text.', {
    maxLength: 200,
    pattern: '^[A-Za-z0-9_*][A-Za-z0-9_.*-]*$',
  }),
};

/** Tools that grant and revoke tools, for the organisation, a team or an agent. */
export function permissionTools(parts: OrganisationToolParts): readonly AnyTool[] {
  return [effectTool(parts, 'granted'), effectTool(parts, 'revoked'), clearTool(parts), checkTool(parts)];
}

function effectTool({ store, offices }: OrganisationToolParts, effect: Permission['effect']) {
  const isGrant = effect === 'granted';
  return defineChanging(offices, {
    name: isGrant ? 'permissions.grant' : 'permissions.revoke',
    alias: isGrant ? 'grant_permission' : 'revoke_permission',
    description: isGrant
      ? 'Grants tools beyond the roles. The rules still decide about each call.'
      : 'Revokes tools. Roles and grants on a lower level cannot give them back.',
    properties: targetProperties,
    required: ['level', 'tools'],
    answers: PermissionSchema,
    tell: (target) => `${isGrant ? 'Grant' : 'Revoke'} ${target.tools} for ${describeTarget(target)}.`,
    change: async (target, { session }) => {
      requireSubject(store.readOrganisation(), target);
      const permission = { ...target, effect, by: session.agent, atMs: Date.now() };
      await store.changeOrganisation({ kind: 'put-permission', permission });
      return describePermission(permission);
    },
  });
}

function clearTool({ store, offices }: OrganisationToolParts) {
  return defineChanging(offices, {
    name: 'permissions.clear',
    description: 'Removes the grant or revocation of tools on this level. The level above then decides.',
    properties: targetProperties,
    required: ['level', 'tools'],
    answers: PermissionSchema,
    tell: (target) => `Remove the grant or revocation of ${target.tools} for ${describeTarget(target)}.`,
    change: async (target, { session }) => {
      if (!(await store.changeOrganisation({ kind: 'remove-permission', permission: target }))) {
        throw new ToolFailure(
          'NOT_FOUND',
          `There is no grant or revocation of ${target.tools} for ${describeTarget(target)}.`,
        );
      }
      return describePermission({ ...target, effect: 'inherited', by: session.agent, atMs: Date.now() });
    },
  });
}

function checkTool({ store, rolesOf }: OrganisationToolParts) {
  return defineOperatorTool({
    name: 'permissions.check',
    description: 'Shows whether a tool is granted to an agent, revoked, or left to its roles and the rules.',
    mutates: false,
    properties: { agent: nameOf('Name of the agent.'), tool: nameOf('Canonical name of the tool.') },
    required: ['agent', 'tool'],
    answers: PermissionCheckSchema,
    run: ({ agent, tool }) => {
      const check = checkMember(store.readOrganisation(), agent, tool);
      if (!check.allowed) {
        const at = check.because === 'revoked' ? { at: describeTarget(check.permission) } : {};
        return { agent, tool, answer: check.because, ...at, roles: [] };
      }
      const { profile, roles = rolesOf(agent, profile), toolGranted } = check.membership;
      return { agent, tool, answer: toolGranted === true ? 'granted' : 'by-role', roles };
    },
    summarize: (_args, { agent, tool, answer }) => `${tool} for ${agent}: ${answer}`,
  });
}

/** A misspelt name must not look like a decision. Agents need not be members under the profile personal. */
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

export function describePermission(
  permission: Omit<Permission, 'effect'> & { readonly effect: Permission['effect'] | 'inherited' },
): InJson<PermissionMessage> {
  const { atMs, ...said } = permission;
  return { ...said, changedAtMs: String(atMs) };
}

function describeTarget({ level, subject }: Pick<Target, 'level' | 'subject'>): string {
  return level === 'organisation' ? 'the organisation' : `${level} ${subject}`;
}
