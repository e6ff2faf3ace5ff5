import type { Opened, OrganisationRead, Permitted, Resolved } from '../call/call.ts';
import type { Organisation } from '../call/organisation.ts';
import { isRefusal } from '../call/refusal.ts';
import { findMembership } from '../organisation/check-member.ts';
import type { Stage } from '../call/stage.ts';

/** Checks what the organisation granted and revoked. */
export function checkPermission(
  readOrganisation: () => Organisation,
): Stage<Opened & Resolved, Permitted & OrganisationRead> {
  return {
    name: 'check-permission',
    run: (call) => {
      const organisation = readOrganisation();
      const membership = findMembership(organisation, call.session, call.tool.definition.name);
      if (isRefusal(membership)) return membership;
      call.membership = membership;
      call.organisation = organisation;
      return undefined;
    },
  };
}
