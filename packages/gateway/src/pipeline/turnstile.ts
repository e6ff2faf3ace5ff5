export interface TurnLimits {
  readonly maxRunning: number;
  readonly maxRunningPerSession: number;
}

interface Waiting {
  readonly session: string;
  readonly go: (release: (() => void) | undefined) => void;
}

const mostWaiting = 4096;

/** Bounds how many calls run at once, in all and per session. Who comes too many waits in order, up to a bound. */
export class Turnstile {
  readonly #limits: () => TurnLimits;
  readonly #perSession = new Map<string, number>();
  readonly #waiting: Waiting[] = [];
  #running = 0;

  constructor(limits: () => TurnLimits) {
    this.#limits = limits;
  }

  get running(): number {
    return this.#running;
  }

  /** Undefined when the queue is full or the caller goes away while waiting. */
  take(session: string, signal: AbortSignal): Promise<(() => void) | undefined> | (() => void) {
    if (this.#waiting.length === 0 && this.#hasRoom(session)) return this.#enter(session);
    if (this.#waiting.length >= mostWaiting || signal.aborted) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const leave = (): void => this.#leaveQueue(waiting);
      const waiting: Waiting = {
        session,
        go: (release) => {
          signal.removeEventListener('abort', leave);
          resolve(release);
        },
      };
      this.#waiting.push(waiting);
      signal.addEventListener('abort', leave, { once: true });
      this.#callNext();
    });
  }

  #hasRoom(session: string): boolean {
    const { maxRunning, maxRunningPerSession } = this.#limits();
    return this.#running < maxRunning && (this.#perSession.get(session) ?? 0) < maxRunningPerSession;
  }

  #enter(session: string): () => void {
    this.#running++;
    this.#perSession.set(session, (this.#perSession.get(session) ?? 0) + 1);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#running--;
      const left = (this.#perSession.get(session) ?? 1) - 1;
      if (left > 0) this.#perSession.set(session, left);
      else this.#perSession.delete(session);
      this.#callNext();
    };
  }

  /** A busy session does not hold up the others: the first one that has room goes. */
  #callNext(): void {
    for (let at = 0; at < this.#waiting.length;) {
      const waiting = this.#waiting[at] as Waiting;
      if (this.#hasRoom(waiting.session)) {
        this.#waiting.splice(at, 1);
        waiting.go(this.#enter(waiting.session));
      } else {
        at++;
      }
    }
  }

  #leaveQueue(waiting: Waiting): void {
    const at = this.#waiting.indexOf(waiting);
    if (at < 0) return;
    this.#waiting.splice(at, 1);
    waiting.go(undefined);
  }
}
