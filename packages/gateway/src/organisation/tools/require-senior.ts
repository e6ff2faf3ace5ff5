import type { JsonObject } from '@sallyport/contract';
import type { Organisation } from '../../call/organisation.ts';
import { ToolFailure } from '../../call/tool.ts';
import { findMember } from '../check-member.ts';
import type { Store } from '../../storage/stores.ts';
import { missing, nameOf } from './define-organisation-tool.ts';

/** An office is given only to somebody who can act in it. */
export function requirePerson(store: Pick<Store, 'liveSessions'>, name: string): void {
  const isActive = store
    .liveSessions()
    .some(({ principal, status, agent }) => principal === 'operator' && status === 'active' && agent === name);
  if (isActive) return;
  throw new ToolFailure('NOT_FOUND', `There is no person ${name} with a credential.`, {
    forOperators: '`sallyport person add` lets one in.',
  });
}

/** Agents come and go with their sessions; a member is one that was meant to be there. */
export function requireAgent(organisation: Organisation, name: string): void {
  if (findMember(organisation, 'agent', name) === undefined) throw missing('agent', name);
}

export function seniorAgentProperty(absent: string): JsonObject {
  return nameOf(`The agent that stands above, and decides about calls where a rule names it. ${absent}`);
}
