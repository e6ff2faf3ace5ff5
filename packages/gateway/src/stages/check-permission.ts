import type { Opened, OrganisationRead, Permitted, Resolved } from '../model/call.ts';
import type { Organisation, Permission } from '../model/organisation.ts';
import { refuse } from '../model/refusal.ts';
import type { Refusal } from '../model/refusal.ts';
import { checkMember } from '../organisation/check-member.ts';
import type { Stage } from '../pipeline/stage.ts';

/** What the organisation granted and took away. It says nothing about people: they run the gate. */
export function checkPermission(
  readOrganisation: () => Organisation,
): Stage<Opened & Resolved, Permitted & OrganisationRead> {
  return {
    name: 'check-permission',
    run: ({ session, tool }) => {
      const organisation = readOrganisation();
      if (session.principal === 'operator') return { standing: {}, organisation };
      const { name } = tool.definition;
      const check = checkMember(organisation, session.agent, name);
      if (check.allowed) return { standing: check.standing, organisation };
      return check.because === 'revoked' ? refuseRevoked(name, check.permission) : refuseStranger();
    },
  };
}

function refuseRevoked(tool: string, { level, subject }: Permission): Refusal {
  const whom = level === 'organisation' ? 'the organisation' : `${level} ${subject}`;
  return refuse('RULE_DENIES', 'permission-revoked', `${tool} was taken away from ${whom}.`, {
    remedy: 'Find another way, or ask a director to grant it again.',
  });
}

function refuseStranger(): Refusal {
  return refuse('RULE_DENIES', 'not-a-member', 'This agent is no member of the organisation.', {
    remedy: 'A director can add it with `sallyport agent add`.',
  });
}
