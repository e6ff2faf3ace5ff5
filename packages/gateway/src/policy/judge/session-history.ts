import { RecentlyUsed } from '../../call/recently-used.ts';
import type { PastCall } from '../../call/verdict.ts';

const leastSessions = 10_000;

interface Remembered {
  readonly calls: Map<string, number>;
  /** Whether it holds what came before this daemon too. */
  isWhole: boolean;
}

/**
 * Remembers which tools each session has called, and when last: all that flow rules ask about. A call counts from its
 * admission, so that one that still runs counts too. In memory; what came before is read from the log once.
 */
export class SessionHistory {
  /** A session that was forgotten is read again. */
  readonly #sessions = new RecentlyUsed<string, Remembered>(leastSessions);
  readonly #readPast: (sessionId: string) => Promise<readonly PastCall[]>;

  /** `readPast` may reject: then the question about the session fails, and with it the call. */
  constructor(readPast: (sessionId: string) => Promise<readonly PastCall[]>) {
    this.#readPast = readPast;
  }

  note(sessionId: string, call: PastCall): void {
    add(this.#remembered(sessionId).calls, call);
  }

  async of(sessionId: string): Promise<readonly PastCall[]> {
    const remembered = this.#remembered(sessionId);
    if (!remembered.isWhole) {
      for (const call of await this.#readPast(sessionId)) add(remembered.calls, call);
      remembered.isWhole = true;
    }
    return [...remembered.calls].map(([tool, startedAtMs]) => ({ tool, startedAtMs }));
  }

  #remembered(sessionId: string): Remembered {
    const known = this.#sessions.get(sessionId);
    if (known !== undefined) return known;
    const remembered: Remembered = { calls: new Map(), isWhole: false };
    this.#sessions.set(sessionId, remembered);
    return remembered;
  }
}

function add(calls: Map<string, number>, { tool, startedAtMs }: PastCall): void {
  calls.set(tool, Math.max(startedAtMs, calls.get(tool) ?? 0));
}
