interface Repeats {
  resultSha256: string;
  timesMs: number[];
}

const mostRemembered = 10_000;

/** Remembers, per agent and call, how often the same result came back. In memory: a restart forgives. */
export class LoopMemory {
  readonly #repeats = new Map<string, Repeats>();

  countSame(agent: string, tool: string, argumentsSha256: string, sinceMs: number): number {
    const repeats = this.#repeats.get(keyOf(agent, tool, argumentsSha256));
    return repeats === undefined ? 0 : repeats.timesMs.filter((timeMs) => timeMs > sinceMs).length;
  }

  noteResult(agent: string, tool: string, argumentsSha256: string, resultSha256: string, nowMs: number): void {
    const key = keyOf(agent, tool, argumentsSha256);
    const known = this.#repeats.get(key);
    const timesMs = known?.resultSha256 === resultSha256 ? known.timesMs : [];
    timesMs.push(nowMs);
    if (timesMs.length > 100) timesMs.shift();
    // Re-inserting keeps the map in order of use, so that the oldest entry is the one to forget.
    this.#repeats.delete(key);
    this.#repeats.set(key, { resultSha256, timesMs });
    if (this.#repeats.size > mostRemembered) {
      const oldest = this.#repeats.keys().next();
      if (!oldest.done) this.#repeats.delete(oldest.value);
    }
  }
}

function keyOf(agent: string, tool: string, argumentsSha256: string): string {
  return `${argumentsSha256} ${tool} ${agent}`;
}
