import type { AnyTool } from '../../model/tool.ts';
import { defineChanging, missing, nameOf } from './define-organisation-tool.ts';
import type { OrganisationToolParts } from './define-organisation-tool.ts';
import { requirePerson } from './require-person.ts';

/** Teams: their agents share a senior and what is granted to the team. */
export function teamTools({ store, offices }: OrganisationToolParts): readonly AnyTool[] {
  const put = defineChanging<{ readonly name: string; readonly senior?: string }>(offices, {
    name: 'teams.put',
    description: 'Makes a team, or names the person who decides about calls of its agents.',
    properties: { name: nameOf('Name of the team.'), senior: nameOf('The person. Absent: the directors decide.') },
    required: ['name'],
    tell: ({ name, senior }) => `Make team ${name}${senior === undefined ? '' : ` with ${senior} as senior`}.`,
    change: async ({ name, senior }) => {
      if (senior !== undefined) requirePerson(store, senior);
      await store.changeOrganisation({
        kind: 'put-team',
        team: { name, ...(senior === undefined ? {} : { senior }) },
      });
      return { name, ...(senior === undefined ? {} : { senior }) };
    },
  });
  const remove = defineChanging<{ readonly name: string }>(offices, {
    name: 'teams.remove',
    description: 'Removes a team. Its members stay, in no team.',
    properties: { name: nameOf('Name of the team.') },
    required: ['name'],
    tell: ({ name }) => `Remove team ${name}.`,
    change: async ({ name }) => {
      if (!(await store.changeOrganisation({ kind: 'remove-team', name }))) throw missing('team', name);
      return { name, removed: true };
    },
  });
  return [put, remove] as unknown as AnyTool[];
}
