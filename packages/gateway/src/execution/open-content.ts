import { noSuchContent } from '../content/content-failures.ts';
import type { ContentStore } from '../content/content-store.ts';
import type { Session } from '../call/session.ts';
import type { ContentAccess } from '../call/tool.ts';
import type { ContentRepository } from '../storage/stores.ts';

/** The content store as far as one session may use it, for the time of one call. */
export function openContent(
  store: ContentStore,
  index: Pick<ContentRepository, 'mayUseContent'>,
): (session: Session, signal: AbortSignal) => ContentAccess {
  return (session, signal) => ({
    keep: (source) => store.put({ sessionId: session.id, source, signal }),
    sizeOf: async (hash) => {
      if (!(await mayUse(index, session, hash))) throw noSuchContent(hash);
      await using reader = await store.open(hash, signal);
      return reader.sizeBytes;
    },
    read: async function* (hash) {
      if (!(await mayUse(index, session, hash))) throw noSuchContent(hash);
      await using reader = await store.open(hash, signal);
      yield* reader.read({ offset: 0, limit: reader.sizeBytes }, signal);
    },
  });
}

/** A session uses what it put or received; operators use everything. Looks at no disk: nothing there changes the answer. */
export async function mayUse(
  index: Pick<ContentRepository, 'mayUseContent'>,
  session: Session,
  hash: string,
): Promise<boolean> {
  return session.principal === 'operator' || index.mayUseContent(session.id, hash);
}
