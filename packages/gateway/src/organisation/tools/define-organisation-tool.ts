import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import type { InJson } from '@sallyport/contract';
import type { Organisation, Profile } from '../../call/organisation.ts';
import { refuse } from '../../call/refusal.ts';
import { ToolFailure, ToolRefused } from '../../call/tool.ts';
import type { AnyTool, ToolContext } from '../../call/tool.ts';
import { findMember } from '../check-member.ts';
import type { Offices } from '../offices.ts';
import type { Store } from '../../storage/stores.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import * as schema from '../../registry/schemas/schema.ts';
import type { EndSession } from '../../sessions/tools/sessions.ts';

export interface OrganisationToolParts {
  readonly store: Pick<Store, 'readOrganisation' | 'changeOrganisation' | 'liveSessions'>;
  readonly endSession: EndSession;
  readonly offices: Offices;
  /** The roles that roles.yaml gives an agent. */
  readonly rolesOf: (agent: string, profile?: Profile) => readonly string[];
}

export interface Changing<Named extends schema.Properties, Required extends string, Given extends DescMessage> {
  readonly name: string;
  /** As other systems call it. */
  readonly alias?: string;
  readonly description: string;
  readonly properties: Named;
  readonly required: readonly Required[];
  readonly answers: Given;
  /** What it would do, in one line. */
  readonly tell: (args: schema.ValuesOf<Named, Required>) => string;
  readonly change: (
    args: schema.ValuesOf<Named, Required>,
    context: ToolContext,
  ) => Promise<InJson<MessageShape<Given>>>;
}

/**
 * Only directors change who may use what and who decides. A person confirms the change that they see; if an agent with
 * that role asks, a person decides.
 */
export function defineChanging<
  const Named extends schema.Properties,
  const Required extends string,
  Given extends DescMessage,
>(offices: Offices, { alias, tell, change, ...options }: Changing<Named, Required, Given>): AnyTool {
  return defineOperatorTool<Named, Required, DescMessage>({
    ...options,
    aliases: alias === undefined ? [] : [alias],
    mutates: true,
    risk: 'critical',
    confirmation: 'always',
    requiresApproval: true,
    audience: 'director',
    claim: (_args, session) => {
      if (offices.mayAdminister(session)) return { paths: [] };
      const message = `Only a director may use ${options.name}.`;
      throw new ToolRefused(refuse('RULE_DENIES', 'director', message, { remedy: 'Ask a director to do it.' }));
    },
    preview: (args) => ({ summary: tell(args), detail: JSON.stringify(args, null, 2), undoable: true }),
    run: change,
    summarize: tell,
  });
}

export function nameOf(description: string) {
  return schema.string(description, { minLength: 1, maxLength: 128, pattern: '^[^\\u0000-\\u001f\\u007f]+$' });
}

export function missing(what: string, name: string): ToolFailure {
  return new ToolFailure('NOT_FOUND', `There is no ${what} ${name}.`);
}

export interface Seniors {
  readonly senior?: string;
  readonly senior_agent?: string;
}

/** The fields of a team or a member. An office is given only to somebody who can act in it. */
export function readSeniors(
  store: OrganisationToolParts['store'],
  { senior, senior_agent: seniorAgent }: Seniors,
): { readonly senior?: string; readonly seniorAgent?: string } {
  if (senior !== undefined) requirePerson(store, senior);
  if (seniorAgent !== undefined) requireAgent(store.readOrganisation(), seniorAgent);
  return { ...(senior === undefined ? {} : { senior }), ...(seniorAgent === undefined ? {} : { seniorAgent }) };
}

export function requirePerson(store: Pick<Store, 'liveSessions'>, name: string): void {
  const isActive = store
    .liveSessions()
    .some(({ principal, status, agent }) => principal === 'operator' && status === 'active' && agent === name);
  if (isActive) return;
  throw new ToolFailure('NOT_FOUND', `There is no person ${name} with a credential.`, {
    forOperators: '`sallyport person add` lets one in.',
  });
}

/** The agent must be a member, because agents come and go with their sessions. */
function requireAgent(organisation: Organisation, name: string): void {
  if (findMember(organisation, 'agent', name) === undefined) throw missing('agent', name);
}

export function seniorAgentProperty(absent: string) {
  return nameOf(`The agent above it, which decides about its calls where a rule names it. ${absent}`);
}
