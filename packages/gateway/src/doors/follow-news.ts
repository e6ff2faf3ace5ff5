import { RpcError } from './transport/rpc-error.ts';

export interface NewsSource<News> {
  /** Returns how to stop. */
  readonly listen: (hear: (news: News) => void) => () => void;
  /** What the news is about. */
  readonly idOf: (news: News) => string;
  /** What is there already. */
  readonly readPending: () => AsyncIterable<News>;
  /** Throws when the reader may not hear it any more. */
  readonly check: () => void;
  readonly signal: AbortSignal;
}

/** A reader who is that far behind starts anew. */
const mostUnread = 5000;

/** What is pending now, and then whatever happens, until the reader goes away. */
export async function* followNews<News extends { readonly kind: string }>({
  listen,
  idOf,
  readPending,
  check,
  signal,
}: NewsSource<News>): AsyncGenerator<News> {
  check();
  const unread: News[] = [];
  let wake = (): void => undefined;
  // Listening begins before looking, so that nothing falls between the two. What falls into both is told once.
  const listed = new Set<string>();
  const stop = listen((news) => {
    unread.push(news);
    wake();
  });
  const onAbort = (): void => wake();
  signal.addEventListener('abort', onAbort);
  try {
    const pending = await Array.fromAsync(readPending());
    for (const news of pending) listed.add(idOf(news));
    for (const news of pending) yield news;
    while (!signal.aborted) {
      const news = unread.shift();
      if (unread.length > mostUnread) throw new RpcError('aborted', 'You are too far behind. Watch again.');
      if (news === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      if (news.kind === 'pending' && listed.delete(idOf(news))) continue;
      check();
      yield news;
    }
  } finally {
    stop();
    signal.removeEventListener('abort', onAbort);
  }
}
