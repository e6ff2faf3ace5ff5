import { noSuchContent } from '../../content/content-failures.ts';
import type { Session } from '../../model/session.ts';
import type { ContentIndex } from '../../storage/stores.ts';

/**
 * A session uses what it put or received; operators use everything. Throws NOT_FOUND, before anything looks at the
 * disk: content that exists for others takes no other way than content that does not exist.
 */
export function checkUse(index: Pick<ContentIndex, 'mayUseContent'>, session: Session, hash: string): void {
  if (session.principal !== 'operator' && !index.mayUseContent(session.id, hash)) throw noSuchContent(hash);
}
