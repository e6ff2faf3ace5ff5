/** Records a second that make a busy gate. */
const busyPerSecond = 2000;
/** With this many records behind, the index no longer waits. */
const mostPutOff = 250_000;
/** A person who searches once will search again. */
const wantedForMs = 30_000;
const lookEveryMs = 500;

/**
 * Says when the index should wait, because the gate is busy. Indexing a record takes about as long as writing one, and
 * on few cores that would slow calls down. Nobody waits for the index: a search gets what is there, and the rest soon.
 */
export class BusyGate {
  #size: number;
  #lookedAtMs: number;
  #wantedUntilMs = -Infinity;

  /** `nowMs` comes from a monotonic clock here and below, not from the time of day. */
  constructor(logSize: number, nowMs: number) {
    this.#size = logSize;
    this.#lookedAtMs = nowMs;
  }

  noteQuestion(nowMs: number): void {
    this.#wantedUntilMs = nowMs + wantedForMs;
  }

  /** Looks at the log twice a second at most; in between nothing has to wait. */
  comesFirst(nowMs: number, sizes: () => { readonly log: number; readonly indexed: number }): boolean {
    const passedMs = nowMs - this.#lookedAtMs;
    if (passedMs < lookEveryMs) return false;
    const { log, indexed } = sizes();
    const perSecond = ((log - this.#size) / passedMs) * 1000;
    this.#size = log;
    this.#lookedAtMs = nowMs;
    return perSecond >= busyPerSecond && nowMs >= this.#wantedUntilMs && log - indexed < mostPutOff;
  }
}
