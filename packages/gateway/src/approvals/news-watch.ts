export interface WaitOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Looked at once the wait has begun: what came about before that is told to nobody any more. */
  readonly isOver: () => Promise<boolean>;
}

/** Tells whoever listens in this daemon what happens. What must survive a restart is in the store. */
export class NewsWatch<News> {
  readonly #listeners = new Set<(news: News) => void>();

  tell(news: News): void {
    for (const listener of this.#listeners) listener(news);
  }

  /** Returns how to stop. A listener must not throw. */
  listen(listener: (news: News) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Whether the news came before the wait or the caller ended. */
  awaitNews(isIt: (news: News) => boolean, { timeoutMs, signal, isOver }: WaitOptions): Promise<boolean> {
    return new Promise((resolve) => {
      const finish = (came: boolean): void => {
        clearTimeout(timer);
        stop();
        signal.removeEventListener('abort', leave);
        resolve(came);
      };
      const leave = (): void => finish(false);
      const timer = setTimeout(leave, timeoutMs);
      const stop = this.listen((news) => {
        if (isIt(news)) finish(true);
      });
      signal.addEventListener('abort', leave, { once: true });
      if (signal.aborted) leave();
      // Who cannot look waits for the news.
      else
        void isOver().then(
          (over) => over && finish(true),
          () => undefined,
        );
    });
  }
}
