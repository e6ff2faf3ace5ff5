import type { ErasureRepository } from '../storage/stores.ts';
import { runErasure } from './run-erasure.ts';
import type { ErasureParts } from './run-erasure.ts';
import { followRetention } from './retention.ts';
import type { RetentionParts } from './retention.ts';

export interface ErasureClockParts extends ErasureParts, Pick<RetentionParts, 'keepDays'> {
  readonly store: ErasureParts['store'] & RetentionParts['store'];
  readonly onFault: (error: unknown) => void;
  readonly onErased: (id: string) => void;
}

/** The store has the due times; this only knows when to look. Clocks jump, so it looks at least this often. */
const longestSleepMs = 60_000;
/** After a failure, such as a full disk. */
const againAfterMs = 30_000;

/** Carries out erasures when their time has come, one after the other, also those that a crash cut off. */
export class ErasureClock {
  readonly #parts: ErasureClockParts;
  readonly #ending = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(parts: ErasureClockParts) {
    this.#parts = parts;
  }

  /** Carries out what is due, after the current erasure. */
  readonly wake = (): void => {
    this.#running = this.#running.then(() => this.#work());
  };

  async close(): Promise<void> {
    this.#ending.abort();
    clearTimeout(this.#timer);
    await this.#running;
  }

  async #work(): Promise<void> {
    if (this.#ending.signal.aborted) return;
    let sleepMs = longestSleepMs;
    try {
      await followRetention(this.#parts);
      await this.#eraseDue();
      const dueMs = await this.#parts.store.nextErasureDueMs();
      if (dueMs !== undefined) sleepMs = Math.min(Math.max(0, dueMs - this.#parts.nowMs()) + 1, longestSleepMs);
    } catch (error) {
      if (!this.#ending.signal.aborted) this.#parts.onFault(error);
      sleepMs = againAfterMs;
    }
    clearTimeout(this.#timer);
    if (!this.#ending.signal.aborted) this.#timer = setTimeout(this.wake, sleepMs).unref();
  }

  async #eraseDue(): Promise<void> {
    const store: ErasureRepository = this.#parts.store;
    for (;;) {
      const due = await store.nextErasure(this.#parts.nowMs());
      const begun = due && (await store.startErasure(due.id, this.#parts.nowMs()));
      if (due === undefined) return;
      if (begun === undefined) continue;
      await runErasure(begun, this.#parts, this.#ending.signal);
      this.#parts.onErased(begun.id);
    }
  }
}
