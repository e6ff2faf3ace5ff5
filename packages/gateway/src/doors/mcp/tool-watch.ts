import type { Session } from '../../call/session.ts';
import { sessionRefusal } from '../../sessions/authenticate.ts';
import type { Store } from '../../storage/stores.ts';
import type { OfferedTools } from './offered-tools.ts';

export interface ToolWatchParts {
  readonly store: Pick<Store, 'findSession'>;
  readonly tools: Pick<OfferedTools, 'causesOf' | 'fingerprint'>;
  readonly onChange: (owner: string) => void;
  /** The session has ended, expired or is in quarantine: nothing of it may stay open. */
  readonly onEnd: (owner: string) => void;
}

interface Watched {
  /** How many streams listen. */
  listeners: number;
  causes: readonly unknown[];
  fingerprint: string;
  lookedAtMs: number;
}

/** Rules may look at the hour, so that a list changes although none of its causes did. */
const lookAgainMs = 60_000;
/** Who comes back within this time is told what changed meanwhile. */
const rememberMs = 3_600_000;

/**
 * Notices that what a session may call has changed, whatever the reason: tools, rules, mode, organisation, its lease or
 * the time. So it looks again, instead of waiting to be told by all of them.
 */
export class ToolWatch {
  readonly #parts: ToolWatchParts;
  readonly #watched = new Map<string, Watched>();

  constructor(parts: ToolWatchParts) {
    this.#parts = parts;
  }

  /** Watches for one more stream of the session. Returns how to stop. */
  listen(session: Session): () => void {
    const watched = this.#watched.get(session.id) ?? { listeners: 0, ...this.#describe(session, Date.now()) };
    watched.listeners++;
    this.#watched.set(session.id, watched);
    return () => void watched.listeners--;
  }

  look(nowMs: number): void {
    const { store, tools, onChange, onEnd } = this.#parts;
    for (const [owner, watched] of this.#watched) {
      if (watched.listeners <= 0) {
        // What is known stays as it was when the last of them left: that is what they know, too.
        if (nowMs - watched.lookedAtMs > rememberMs) this.#watched.delete(owner);
        continue;
      }
      const session = store.findSession(owner);
      if (session === undefined || sessionRefusal(session, nowMs) !== undefined) {
        onEnd(owner);
        continue;
      }
      const isDue = nowMs - watched.lookedAtMs >= lookAgainMs;
      if (!isDue && areSame(tools.causesOf(session, nowMs), watched.causes)) continue;
      const before = watched.fingerprint;
      Object.assign(watched, this.#describe(session, nowMs));
      if (watched.fingerprint !== before) onChange(owner);
    }
  }

  #describe(session: Session, nowMs: number): Omit<Watched, 'listeners'> {
    const { tools } = this.#parts;
    return {
      causes: tools.causesOf(session, nowMs),
      fingerprint: tools.fingerprint(session, nowMs),
      lookedAtMs: nowMs,
    };
  }
}

function areSame(causes: readonly unknown[], others: readonly unknown[]): boolean {
  return causes.every((cause, at) => cause === others[at]);
}
