/** Places whose times are known together. */
const perSpan = 64;

/** When the entries of a run happened. Clocks are set back now and then, so each span has times of its own. */
export class TimeSpans {
  readonly #first: number;
  /** Of each span the first and the last time. Infinity: it has no entry. */
  readonly #times: number[] = [];

  constructor(first: number, stored: Uint8Array = new Uint8Array()) {
    this.#first = first;
    const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
    for (let at = 0; at + 8 <= bytes.length; at += 8) this.#times.push(bytes.readDoubleLE(at));
  }

  add(place: number, timeMs: number): void {
    this.#widen(Math.floor((place - this.#first) / perSpan), timeMs, timeMs);
  }

  /** Adds the spans of a later run. They need not line up: a span may become wider than it was. */
  join(first: number, later: TimeSpans): void {
    for (let span = 0; 2 * span < later.#times.length; span += 1) {
      const [from, to] = later.#at(span);
      if (from > to) continue;
      const place = first - this.#first + span * perSpan;
      this.#widen(Math.floor(place / perSpan), from, to);
      this.#widen(Math.floor((place + perSpan - 1) / perSpan), from, to);
    }
  }

  get fromMs(): number {
    return this.#times.reduce((least, time, at) => (at % 2 === 0 ? Math.min(least, time) : least), Infinity);
  }

  get toMs(): number {
    return this.#times.reduce((most, time, at) => (at % 2 === 1 ? Math.max(most, time) : most), -Infinity);
  }

  encode(): Buffer {
    const bytes = Buffer.alloc(8 * this.#times.length);
    for (const [at, time] of this.#times.entries()) bytes.writeDoubleLE(time, 8 * at);
    return bytes;
  }

  /** Clears the places of spans in which nothing happened from `sinceMs` until before `untilMs`. */
  keepWithin(bits: Uint32Array, sinceMs: number, untilMs: number): void {
    const words = perSpan / 32;
    for (let span = 0; span * words < bits.length; span += 1) {
      const [from, to] = this.#at(span);
      if (to < sinceMs || from >= untilMs) bits.fill(0, span * words, (span + 1) * words);
    }
  }

  #at(span: number): [from: number, to: number] {
    return [this.#times[2 * span] ?? Infinity, this.#times[2 * span + 1] ?? -Infinity];
  }

  #widen(span: number, fromMs: number, toMs: number): void {
    while (this.#times.length <= 2 * span) this.#times.push(Infinity, -Infinity);
    this.#times[2 * span] = Math.min(this.#times[2 * span] as number, fromMs);
    this.#times[2 * span + 1] = Math.max(this.#times[2 * span + 1] as number, toMs);
  }
}
