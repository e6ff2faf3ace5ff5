import type { ApprovalRepository } from '../storage/stores.ts';
import type { ApprovalWatch, PlanWatch } from './approval-watch.ts';

export interface ApprovalClockParts {
  readonly store: Pick<ApprovalRepository, 'ageApprovals' | 'nextApprovalDeadlineMs'>;
  readonly watch: ApprovalWatch;
  readonly plans: PlanWatch;
  readonly onFault: (error: unknown) => void;
  readonly nowMs?: () => number;
}

/** Deadlines are rows; this only knows when to look. Longer waits are cut, because clocks of machines jump. */
const longestSleepMs = 60_000;

/**
 * Ends tasks and plans that nobody decided in time and has people reminded of those that wait, once each: the store says which,
 * also after a restart in between.
 */
export class ApprovalClock {
  readonly #parts: ApprovalClockParts;
  readonly #nowMs: () => number;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(parts: ApprovalClockParts) {
    this.#parts = parts;
    this.#nowMs = parts.nowMs ?? Date.now;
    for (const watch of [parts.watch, parts.plans]) {
      watch.listen(({ kind }: { readonly kind: string }) => {
        if (kind === 'pending') this.#sleep().catch(parts.onFault);
      });
    }
  }

  /** Does what is due and goes on from there. */
  start(): Promise<void> {
    this.#running = this.#running.then(() => this.#work());
    return this.#running;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  async #work(): Promise<void> {
    if (this.#closed) return;
    const { store, watch, plans, onFault } = this.#parts;
    try {
      const { expired, reminders, expiredPlans } = await store.ageApprovals(this.#nowMs());
      for (const task of expired) watch.tell({ kind: 'expired', task });
      for (const plan of expiredPlans) plans.tell({ kind: 'expired', plan });
      for (const task of reminders) {
        // What expired in the same moment needs nobody's attention any more.
        if (task.status === 'pending') watch.tell({ kind: 'reminder', task });
      }
    } catch (error) {
      onFault(error);
    }
    await this.#sleep();
  }

  async #sleep(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#closed) return;
    const next = await this.#parts.store.nextApprovalDeadlineMs();
    // It may have been closed, or set, while the store was asked.
    clearTimeout(this.#timer);
    if (next === undefined || this.#closed) return;
    const delayMs = Math.min(Math.max(0, next - this.#nowMs()) + 1, longestSleepMs);
    this.#timer = setTimeout(() => void this.start(), delayMs).unref();
  }
}
