export interface WaitOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Looked at once the wait has begun: what came about before that is told to nobody any more. */
  readonly isOver: () => Promise<boolean>;
}

type Listener<News> = (news: News) => void;

/** Tells listeners in this daemon what happens. What must survive a restart is in the store. */
export class NewsWatch<News> {
  readonly #listeners = new Set<Listener<News>>();
  /** Callers by what they wait for. There may be thousands, and each is told about its own only. */
  readonly #waiting = new Map<string, Set<Listener<News>>>();
  readonly #idOf: (news: News) => string;

  /** `idOf`: what the news is about. */
  constructor(idOf: (news: News) => string) {
    this.#idOf = idOf;
  }

  tell(news: News): void {
    for (const listener of this.#listeners) listener(news);
    for (const listener of this.#waiting.get(this.#idOf(news)) ?? []) listener(news);
  }

  /** Returns how to stop. A listener must not throw. */
  listen(listener: (news: News) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #listenFor(id: string, listener: Listener<News>): () => void {
    const listeners = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#waiting.delete(id);
    };
  }

  /** Whether the news about this came before the wait or the caller ended. */
  awaitNews(id: string, isIt: (news: News) => boolean, { timeoutMs, signal, isOver }: WaitOptions): Promise<boolean> {
    return new Promise((resolve) => {
      const finish = (came: boolean): void => {
        clearTimeout(timer);
        stop();
        signal.removeEventListener('abort', leave);
        resolve(came);
      };
      const leave = (): void => finish(false);
      const timer = setTimeout(leave, timeoutMs);
      const stop = this.#listenFor(id, (news) => {
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
