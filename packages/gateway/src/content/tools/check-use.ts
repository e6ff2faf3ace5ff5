import { noSuchContent } from '../content-failures.ts';
import { mayUse } from '../../execution/open-content.ts';
import type { Session } from '../../call/session.ts';
import type { ContentRepository } from '../../storage/stores.ts';

/** Throws NOT_FOUND, as for content that does not exist. */
export async function checkUse(
  index: Pick<ContentRepository, 'mayUseContent'>,
  session: Session,
  hash: string,
): Promise<void> {
  if (!(await mayUse(index, session, hash))) throw noSuchContent(hash);
}
