import { MemberSchema } from '@sallyport/contract';
import type { Member } from '../../call/organisation.ts';
import type { AnyTool } from '../../call/tool.ts';
import { findMember } from '../check-member.ts';
import { describeMember, roleProperty } from './agents.ts';
import { defineChanging, missing, nameOf, requirePerson } from './define-organisation-tool.ts';
import type { OrganisationToolParts } from './define-organisation-tool.ts';

const kindProperty = { enum: ['agent', 'person'], description: 'Whose role it is.' } as const;

/** Who has which role. A person with the role director is a director of the organisation. */
export function roleTools({ store, offices }: OrganisationToolParts): readonly AnyTool[] {
  const assign = defineChanging(offices, {
    name: 'roles.assign',
    description: 'Gives an agent or a person a role. It replaces the role they had.',
    properties: { kind: kindProperty, name: nameOf('Of the agent or person.'), role: roleProperty },
    required: ['kind', 'name', 'role'],
    answers: MemberSchema,
    tell: ({ kind, name, role }) => `Make ${kind} ${name} a ${role}.`,
    change: async ({ kind, name, role }) => {
      const found = findMember(store.readOrganisation(), kind, name);
      if (found === undefined && kind === 'agent') throw missing('agent', name);
      if (kind === 'person') requirePerson(store, name);
      const member: Member = { ...(found ?? { kind, name, addedAtMs: Date.now() }), role };
      await store.changeOrganisation({ kind: 'put-member', member });
      return describeMember(member);
    },
  });
  const unassign = defineChanging(offices, {
    name: 'roles.unassign',
    description: 'Removes the role of an agent or a person. The role in roles.yaml, if any, then applies.',
    properties: { kind: kindProperty, name: nameOf('Of the agent or person.') },
    required: ['kind', 'name'],
    answers: MemberSchema,
    tell: ({ kind, name }) => `Remove the role of ${kind} ${name}.`,
    change: async ({ kind, name }) => {
      const found = findMember(store.readOrganisation(), kind, name);
      if (found === undefined) throw missing(kind, name);
      const { role: _, ...member } = found;
      // A person is a member by their role alone.
      await store.changeOrganisation(
        kind === 'person' ? { kind: 'remove-member', of: kind, name } : { kind: 'put-member', member },
      );
      return describeMember(member);
    },
  });
  return [assign, unassign];
}
