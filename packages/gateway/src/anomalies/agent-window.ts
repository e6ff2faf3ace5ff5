import type { CallFact } from './call-fact.ts';

const slots = 300;

/** Counts calls within a window, to a three-hundredth of it. Always the same memory, however many there are. */
export class CallCount {
  readonly #counts = new Uint32Array(slots);
  readonly #slotMs: number;
  #slot = 0;
  #total = 0;

  constructor(windowMs: number) {
    this.#slotMs = windowMs / slots;
  }

  /** How many there are with this one. */
  add(steadyMs: number): number {
    const slot = Math.floor(steadyMs / this.#slotMs);
    if (slot - this.#slot >= slots) this.reset();
    else {
      for (let next = this.#slot + 1; next <= slot; next++) {
        this.#total -= this.#counts[next % slots] ?? 0;
        this.#counts[next % slots] = 0;
      }
    }
    this.#slot = Math.max(slot, this.#slot);
    const at = this.#slot % slots;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    return ++this.#total;
  }

  reset(): void {
    this.#counts.fill(0);
    this.#total = 0;
  }
}

/** The last calls, and no more than so many. */
export class LastCalls {
  readonly #calls: CallFact[] = [];
  readonly #most: number;
  #added = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** How many there ever were. */
  get added(): number {
    return this.#added;
  }

  add(fact: CallFact): void {
    if (this.#calls.length >= this.#most) this.#calls.shift();
    this.#calls.push(fact);
    this.#added++;
  }

  /** The last so many, without the first `since` there ever were. Oldest first. */
  last(count: number, since = 0): readonly CallFact[] {
    const wanted = Math.min(count, this.#added - since);
    return wanted <= 0 ? [] : this.#calls.slice(-wanted);
  }
}

/** What is remembered of one agent. */
export interface AgentWindow {
  readonly count: CallCount | undefined;
  readonly calls: LastCalls;
  readonly attempts: LastCalls;
  /** How many calls, or attempts, an episode of each detector used up: they count for no other. Absent: none. */
  used?: Map<string, number>;
  /** Detectors that have an episode going on. Absent: none has. */
  ongoing?: Set<string>;
}
