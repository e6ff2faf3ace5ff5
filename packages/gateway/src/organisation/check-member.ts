import type { Member, Organisation, Permission, Membership } from '../call/organisation.ts';
import { matchesName } from '../policy/patterns/name-pattern.ts';

export type MemberCheck =
  | { readonly allowed: true; readonly membership: Membership }
  | { readonly allowed: false; readonly because: 'not-a-member' }
  | { readonly allowed: false; readonly because: 'revoked'; readonly permission: Permission };

/**
 * Whether the organisation lets an agent use a tool, as far as it has said anything. What is revoked at a level is so for
 * all below it; what is granted at one adds to the roles. Where nothing was said, the roles decide.
 */
export function checkMember(organisation: Organisation, agent: string, tool: string): MemberCheck {
  const member = findMember(organisation, 'agent', agent);
  if (member === undefined && organisation.settings.profile === 'team') {
    return { allowed: false, because: 'not-a-member' };
  }
  const said = permissionsFor(organisation, agent, member?.team, tool);
  const revoked = said.find(({ effect }) => effect === 'revoked');
  if (revoked !== undefined) return { allowed: false, because: 'revoked', permission: revoked };
  return {
    allowed: true,
    membership: {
      ...(member?.role === undefined ? {} : { roles: [member.role] }),
      ...(member?.team === undefined ? {} : { teams: [member.team] }),
      ...(said.length === 0 ? {} : { toolGranted: true }),
      ...(organisation.settings.profile === 'personal' ? {} : { profile: organisation.settings.profile }),
    },
  };
}

export function findMember({ members }: Organisation, kind: Member['kind'], name: string): Member | undefined {
  return members.find((member) => member.kind === kind && member.name === name);
}

function permissionsFor(
  { permissions }: Organisation,
  agent: string,
  team: string | undefined,
  tool: string,
): readonly Permission[] {
  const subjects = { organisation: '', team, agent };
  return permissions.filter(({ level, subject, tools }) => subjects[level] === subject && matchesName(tools, tool));
}
