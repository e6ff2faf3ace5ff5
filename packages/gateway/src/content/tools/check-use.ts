import { noSuchContent } from '../content-failures.ts';
import { mayUse } from '../../execution/open-content.ts';
import type { Session } from '../../call/session.ts';
import type { ContentIndex } from '../../storage/stores.ts';

/** Throws NOT_FOUND, as for content that does not exist. */
export function checkUse(index: Pick<ContentIndex, 'mayUseContent'>, session: Session, hash: string): void {
  if (!mayUse(index, session, hash)) throw noSuchContent(hash);
}
