import { RecentlyUsed } from '../../call/recently-used.ts';

interface Repeats {
  readonly resultMark: number;
  readonly timesMs: number[];
}

/** One call as the loop gate knows it again. */
export interface RepeatedCall {
  readonly sessionId: string;
  readonly tool: string;
  readonly argumentsSha256: string;
}

export interface NotedResult {
  /** Equal for equal results. */
  readonly resultMark: number;
  readonly nowMs: number;
  /** The call may have changed something: what the others of its session gave before says nothing about a loop. */
  readonly resetsOthers: boolean;
}

const leastSessions = 1000;
/** Of one session. */
const leastCalls = 1000;
/** No limit is above this. */
const mostTimes = 1000;

/** Remembers, per session and call, how often the same result came back. In memory: a restart forgives. */
export class LoopMemory {
  readonly #sessions = new RecentlyUsed<string, RecentlyUsed<string, Repeats>>(leastSessions);

  countSame(call: RepeatedCall, sinceMs: number): number {
    const repeats = this.#sessions.get(call.sessionId)?.get(keyOf(call));
    if (repeats === undefined) return 0;
    let count = 0;
    for (const timeMs of repeats.timesMs) if (timeMs > sinceMs) count += 1;
    return count;
  }

  note(call: RepeatedCall, { resultMark, nowMs, resetsOthers }: NotedResult): void {
    const key = keyOf(call);
    const known = this.#sessions.get(call.sessionId);
    const before = known?.get(key);
    if (before?.resultMark === resultMark) {
      before.timesMs.push(nowMs);
      if (before.timesMs.length > mostTimes) before.timesMs.shift();
      if (!resetsOthers) return;
    }
    const calls = resetsOthers || known === undefined ? new RecentlyUsed<string, Repeats>(leastCalls) : known;
    calls.set(key, before?.resultMark === resultMark ? before : { resultMark, timesMs: [nowMs] });
    if (calls !== known) this.#sessions.set(call.sessionId, calls);
  }

  /** The session may have changed something by a call that gave no result. */
  forget(sessionId: string): void {
    this.#sessions.delete(sessionId);
  }
}

function keyOf({ tool, argumentsSha256 }: RepeatedCall): string {
  return `${argumentsSha256} ${tool}`;
}
