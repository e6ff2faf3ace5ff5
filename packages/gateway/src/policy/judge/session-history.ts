import type { PastCall } from '../../call/verdict.ts';

const mostSessions = 10_000;

/**
 * Remembers which tools each session has called, and when last: all that flow rules ask about. A call counts from its
 * admission, so that one that still runs counts too. In memory; what came before is read from the log once.
 */
export class SessionHistory {
  readonly #sessions = new Map<string, Map<string, number>>();
  readonly #readPast: (sessionId: string) => readonly PastCall[];

  /** `readPast` may throw: then the question about the session fails, and with it the call. */
  constructor(readPast: (sessionId: string) => readonly PastCall[]) {
    this.#readPast = readPast;
  }

  note(sessionId: string, { tool, startedAtMs }: PastCall): void {
    const calls = this.#callsOf(sessionId);
    calls.set(tool, Math.max(startedAtMs, calls.get(tool) ?? 0));
  }

  of(sessionId: string): readonly PastCall[] {
    return [...this.#callsOf(sessionId)].map(([tool, startedAtMs]) => ({ tool, startedAtMs }));
  }

  #callsOf(sessionId: string): Map<string, number> {
    const known = this.#sessions.get(sessionId);
    const calls = known ?? new Map<string, number>();
    if (known === undefined) {
      for (const { tool, startedAtMs } of this.#readPast(sessionId)) {
        calls.set(tool, Math.max(startedAtMs, calls.get(tool) ?? 0));
      }
    }
    // Re-inserting keeps the map in order of use, so that the oldest is the one to forget; it can be read again.
    this.#sessions.delete(sessionId);
    this.#sessions.set(sessionId, calls);
    if (this.#sessions.size > mostSessions) {
      const oldest = this.#sessions.keys().next();
      if (!oldest.done) this.#sessions.delete(oldest.value);
    }
    return calls;
  }
}
