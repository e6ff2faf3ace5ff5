import type { Member, Organisation, Permission, Membership } from '../call/organisation.ts';
import { matchesName } from '../policy/patterns/name-pattern.ts';
import { Remembered } from '../call/remembered.ts';
import { refuse } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import type { Session } from '../call/session.ts';

export type MemberCheck =
  | { readonly allowed: true; readonly membership: Membership }
  | { readonly allowed: false; readonly because: 'not-a-member' }
  | { readonly allowed: false; readonly because: 'revoked'; readonly permission: Permission };

/**
 * Whether the organisation lets an agent use a tool, if it has an entry about that. A revocation at a level applies to
 * all levels below it; a grant adds to the roles. Without an entry, the roles decide.
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

const mostRemembered = 1024;

/** By the organisation, which is another object as soon as anything in it changes. */
const checks = new WeakMap<Organisation, ReturnType<typeof rememberAgents>>();

function rememberAgents(organisation: Organisation) {
  return new Remembered(
    mostRemembered,
    (agent: string) => new Remembered(mostRemembered, (tool: string) => checkMember(organisation, agent, tool)),
  );
}

/** What the organisation tells the rules about a caller who may use the tool, or why it may not. */
export function findMembership(
  organisation: Organisation,
  { principal, agent }: Pick<Session, 'principal' | 'agent'>,
  tool: string,
): Membership | Refusal {
  // The organisation does not limit people, who run the gate.
  if (principal === 'operator') return {};
  const check = checks.getOrInsertComputed(organisation, rememberAgents).of(agent).of(tool);
  if (check.allowed) return check.membership;
  return check.because === 'revoked' ? refuseRevoked(tool, check.permission) : refuseStranger();
}

function refuseRevoked(tool: string, { level, subject }: Permission): Refusal {
  const whom = level === 'organisation' ? 'the organisation' : `${level} ${subject}`;
  return refuse('RULE_DENIES', 'permission-revoked', `${tool} was revoked for ${whom}.`, {
    remedy: 'Find another way.',
    forOperators: 'A director can grant it again with `sallyport grant add`.',
  });
}

function refuseStranger(): Refusal {
  return refuse('RULE_DENIES', 'not-a-member', 'This agent is not a member of the organisation.', {
    forOperators: 'A director can add it with `sallyport agent add`.',
  });
}
