export interface TurnLimits {
  readonly maxRunning: number;
  readonly maxRunningPerSession: number;
}

type Release = () => void;

interface Waiting {
  readonly session: string;
  readonly go: (release: Release | undefined) => void;
}

const mostWaiting = 4096;
/** Less than most clients wait for an answer, so that they get one. */
const longestWaitMs = 30_000;

/**
 * Bounds how many calls run at once, in all and per session. Further calls wait: a bounded number, for a bounded time.
 * No session takes more than half of what the others leave, so that a place is free for the next session, and what
 * becomes free goes to the session that has the least.
 */
export class Turnstile {
  readonly #limits: () => TurnLimits;
  readonly #longestWaitMs: number;
  readonly #perSession = new Map<string, number>();
  /** In the order in which their sessions began to wait. */
  readonly #waiting = new Map<string, Waiting[]>();
  #running = 0;
  #waitingCount = 0;

  constructor(limits: () => TurnLimits, options: { readonly longestWaitMs?: number } = {}) {
    this.#limits = limits;
    this.#longestWaitMs = options.longestWaitMs ?? longestWaitMs;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waitingCount;
  }

  /** Undefined when too many wait, when no place becomes free in time, or when the caller goes away while waiting. */
  take(session: string, caller: { readonly signal: AbortSignal }): Promise<Release | undefined> | Release {
    const ahead = this.#waiting.get(session)?.length ?? 0;
    if (ahead === 0 && this.#hasRoom(session)) return this.#enter(session);
    const { signal } = caller;
    if (ahead >= shareOf(mostWaiting, this.#waitingCount - ahead) || signal.aborted) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const leave = (): void => this.#leaveQueue(waiting);
      const timer = setTimeout(leave, this.#longestWaitMs);
      const waiting: Waiting = {
        session,
        go: (release) => {
          clearTimeout(timer);
          signal.removeEventListener('abort', leave);
          resolve(release);
        },
      };
      this.#waitingCount++;
      const queue = this.#waiting.get(session) ?? [];
      queue.push(waiting);
      this.#waiting.set(session, queue);
      signal.addEventListener('abort', leave, { once: true });
      this.#callNext();
    });
  }

  #hasRoom(session: string): boolean {
    const { maxRunning, maxRunningPerSession } = this.#limits();
    const own = this.#runningOf(session);
    const share = Math.min(maxRunningPerSession, shareOf(maxRunning, this.#running - own));
    return this.#running < maxRunning && own < share;
  }

  #runningOf(session: string): number {
    return this.#perSession.get(session) ?? 0;
  }

  #enter(session: string): Release {
    this.#running++;
    this.#perSession.set(session, this.#runningOf(session) + 1);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#running--;
      const left = this.#runningOf(session) - 1;
      if (left > 0) this.#perSession.set(session, left);
      else this.#perSession.delete(session);
      this.#callNext();
    };
  }

  #callNext(): void {
    for (;;) {
      let next: string | undefined;
      for (const session of this.#waiting.keys()) {
        const hasLess = next === undefined || this.#runningOf(session) < this.#runningOf(next);
        if (hasLess && this.#hasRoom(session)) next = session;
      }
      const waiting = next === undefined ? undefined : this.#waiting.get(next)?.[0];
      if (waiting === undefined) return;
      this.#forget(waiting);
      waiting.go(this.#enter(waiting.session));
    }
  }

  #leaveQueue(waiting: Waiting): void {
    if (this.#forget(waiting)) waiting.go(undefined);
  }

  #forget(waiting: Waiting): boolean {
    const queue = this.#waiting.get(waiting.session) ?? [];
    const at = queue.indexOf(waiting);
    if (at < 0) return false;
    queue.splice(at, 1);
    this.#waitingCount--;
    if (queue.length === 0) this.#waiting.delete(waiting.session);
    return true;
  }
}

/** The larger half of what the others leave, and at least one. */
function shareOf(total: number, othersHave: number): number {
  return Math.max(1, Math.ceil((total - othersHave) / 2));
}
