import type { Organisation, Permission, Membership } from '../call/organisation.ts';
import { Remembered } from '../call/remembered.ts';
import { refuse } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import type { Session } from '../call/session.ts';
import { checkMember } from './check-member.ts';

const mostRemembered = 1024;

/** By the organisation as it stands: another object stands for it as soon as anything in it changes. */
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
  // It says nothing about people: they run the gate.
  if (principal === 'operator') return {};
  const check = checks.getOrInsertComputed(organisation, rememberAgents).of(agent).of(tool);
  if (check.allowed) return check.membership;
  return check.because === 'revoked' ? refuseRevoked(tool, check.permission) : refuseStranger();
}

function refuseRevoked(tool: string, { level, subject }: Permission): Refusal {
  const whom = level === 'organisation' ? 'the organisation' : `${level} ${subject}`;
  return refuse('RULE_DENIES', 'permission-revoked', `${tool} was taken away from ${whom}.`, {
    remedy: 'Find another way.',
    forOperators: 'A director can grant it again with `sallyport grant add`.',
  });
}

function refuseStranger(): Refusal {
  return refuse('RULE_DENIES', 'not-a-member', 'This agent is no member of the organisation.', {
    forOperators: 'A director can add it with `sallyport agent add`.',
  });
}
