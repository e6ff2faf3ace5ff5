import type { JsonObject } from '@sallyport/contract';
import type { Team } from '../../call/organisation.ts';
import type { AnyTool } from '../../call/tool.ts';
import { defineChanging, missing, nameOf } from './define-organisation-tool.ts';
import type { OrganisationToolParts } from './define-organisation-tool.ts';
import { requireAgent, requirePerson, seniorAgentProperty } from './require-senior.ts';

interface NewTeam {
  readonly name: string;
  readonly senior?: string;
  readonly senior_agent?: string;
}

/** Teams: their agents share a senior and what is granted to the team. */
export function teamTools({ store, offices }: OrganisationToolParts): readonly AnyTool[] {
  const put = defineChanging<NewTeam>(offices, {
    name: 'teams.put',
    description: 'Makes a team, or names who decides about calls of its agents.',
    properties: {
      name: nameOf('Name of the team.'),
      senior: nameOf('The person. Absent: the directors decide.'),
      senior_agent: seniorAgentProperty('Absent: none does.'),
    },
    required: ['name'],
    tell: ({ name, senior }) => `Make team ${name}${senior === undefined ? '' : ` with ${senior} as senior`}.`,
    change: async ({ name, senior, senior_agent: seniorAgent }) => {
      if (senior !== undefined) requirePerson(store, senior);
      if (seniorAgent !== undefined) requireAgent(store.readOrganisation(), seniorAgent);
      const team: Team = {
        name,
        ...(senior === undefined ? {} : { senior }),
        ...(seniorAgent === undefined ? {} : { seniorAgent }),
      };
      await store.changeOrganisation({ kind: 'put-team', team });
      return describeTeam(team);
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

export function describeTeam({ seniorAgent, ...team }: Team): JsonObject {
  return { ...team, ...(seniorAgent === undefined ? {} : { senior_agent: seniorAgent }) };
}
