import { RemovedMemberSchema, TeamSchema } from '@sallyport/contract';
import type { AnyTool } from '../../call/tool.ts';
import { defineChanging, missing, nameOf, readSeniors, seniorAgentProperty } from './define-organisation-tool.ts';
import type { OrganisationToolParts } from './define-organisation-tool.ts';

/** Teams: their agents share a senior and what is granted to the team. */
export function teamTools({ store, offices }: OrganisationToolParts): readonly AnyTool[] {
  const put = defineChanging(offices, {
    name: 'teams.put',
    description: 'Creates a team, or sets who decides about calls of its agents.',
    properties: {
      name: nameOf('Name of the team.'),
      senior: nameOf('The person. Absent: the directors decide.'),
      senior_agent: seniorAgentProperty('Absent: no agent does.'),
    },
    required: ['name'],
    answers: TeamSchema,
    tell: ({ name, senior }) => `Make team ${name}${senior === undefined ? '' : ` with ${senior} as senior`}.`,
    change: async ({ name, ...seniors }) => {
      const team = { name, ...readSeniors(store, seniors) };
      await store.changeOrganisation({ kind: 'put-team', team });
      return team;
    },
  });
  const remove = defineChanging(offices, {
    name: 'teams.remove',
    description: 'Removes a team. Its members stay, in no team.',
    properties: { name: nameOf('Name of the team.') },
    required: ['name'],
    answers: RemovedMemberSchema,
    tell: ({ name }) => `Remove team ${name}.`,
    change: async ({ name }) => {
      if (!(await store.changeOrganisation({ kind: 'remove-team', name }))) throw missing('team', name);
      return { name, removed: true, endedSessions: 0 };
    },
  });
  return [put, remove];
}
