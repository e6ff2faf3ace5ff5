import { ToolFailure } from '../../model/tool.ts';
import type { Store } from '../../storage/stores.ts';

/** An office is given only to somebody who can act in it. */
export function requirePerson(store: Pick<Store, 'listSessions'>, name: string): void {
  const isActive = store
    .listSessions()
    .some(({ principal, status, agent }) => principal === 'operator' && status === 'active' && agent === name);
  if (isActive) return;
  throw new ToolFailure(
    'NOT_FOUND',
    `There is no person ${name} with a credential. \`sallyport person add\` lets one in.`,
  );
}
