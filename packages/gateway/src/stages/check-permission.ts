import type { Opened, OrganisationRead, Permitted, Resolved } from '../model/call.ts';
import type { Organisation } from '../model/organisation.ts';
import { isRefusal } from '../model/refusal.ts';
import { findStanding } from '../organisation/find-standing.ts';
import type { Stage } from '../pipeline/stage.ts';

/** What the organisation granted and took away. */
export function checkPermission(
  readOrganisation: () => Organisation,
): Stage<Opened & Resolved, Permitted & OrganisationRead> {
  return {
    name: 'check-permission',
    run: ({ session, tool }) => {
      const organisation = readOrganisation();
      const standing = findStanding(organisation, session, tool.definition.name);
      return isRefusal(standing) ? standing : { standing, organisation };
    },
  };
}
