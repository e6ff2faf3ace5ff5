interface Repeats {
  resultSha256: string;
  timesMs: number[];
}

/** One call as the loop gate knows it again. */
export interface RepeatedCall {
  readonly sessionId: string;
  readonly tool: string;
  readonly argumentsSha256: string;
}

export interface NotedResult {
  readonly resultSha256: string;
  readonly nowMs: number;
  /** The call may have changed something: what the others of its session gave before says nothing about a loop. */
  readonly resetsOthers: boolean;
}

const mostSessions = 1000;
const mostCallsOfSession = 1000;
/** No limit is above this. */
const mostTimes = 1000;

/** Remembers, per session and call, how often the same result came back. In memory: a restart forgives. */
export class LoopMemory {
  /** The session that was used longest ago first, and so the calls of each. */
  readonly #sessions = new Map<string, Map<string, Repeats>>();

  countSame(call: RepeatedCall, sinceMs: number): number {
    const repeats = this.#sessions.get(call.sessionId)?.get(keyOf(call));
    return repeats === undefined ? 0 : repeats.timesMs.filter((timeMs) => timeMs > sinceMs).length;
  }

  note(call: RepeatedCall, { resultSha256, nowMs, resetsOthers }: NotedResult): void {
    const key = keyOf(call);
    const known = this.#sessions.get(call.sessionId);
    const before = known?.get(key);
    const timesMs = before?.resultSha256 === resultSha256 ? before.timesMs : [];
    timesMs.push(nowMs);
    if (timesMs.length > mostTimes) timesMs.shift();
    const calls = resetsOthers || known === undefined ? new Map<string, Repeats>() : known;
    keepLast(calls, key, { resultSha256, timesMs }, mostCallsOfSession);
    keepLast(this.#sessions, call.sessionId, calls, mostSessions);
  }

  /** The session may have changed something by a call that gave no result. */
  forget(sessionId: string): void {
    this.#sessions.delete(sessionId);
  }
}

/** Keeps the map in order of use, so that the oldest entry is the one to forget. */
function keepLast<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= most) return;
  const oldest = map.keys().next();
  if (!oldest.done) map.delete(oldest.value);
}

function keyOf({ tool, argumentsSha256 }: RepeatedCall): string {
  return `${argumentsSha256} ${tool}`;
}
