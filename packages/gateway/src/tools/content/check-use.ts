import { noSuchContent } from '../../content/content-failures.ts';
import type { Session } from '../../model/session.ts';
import type { ContentIndex } from '../../storage/stores.ts';

/** A session uses what it put or received; operators use everything. Looks at no disk: nothing there changes the answer. */
export function mayUse(index: Pick<ContentIndex, 'mayUseContent'>, session: Session, hash: string): boolean {
  return session.principal === 'operator' || index.mayUseContent(session.id, hash);
}

/** Throws NOT_FOUND, as for content that does not exist. */
export function checkUse(index: Pick<ContentIndex, 'mayUseContent'>, session: Session, hash: string): void {
  if (!mayUse(index, session, hash)) throw noSuchContent(hash);
}
