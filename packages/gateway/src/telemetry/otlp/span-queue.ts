import type { Span } from './call-span.ts';
import type { TraceSettings } from './read-settings.ts';
import type { SpanSender } from './send-spans.ts';

const mostTries = 5;
const firstPauseMs = 1000;
const longestPauseMs = 30_000;
/** How long the end of the daemon waits for the receiver. */
const closingMs = 2000;

/** Why spans were lost. */
export const dropReasons = ['queue_full', 'refused', 'failed'] as const;
export type DropReason = (typeof dropReasons)[number];

/**
 * Spans on their way out: a bounded number waits, one batch at a time is sent, and what the receiver does not accept
 * time is dropped and counted. `offer` only appends to a list.
 */
export class SpanQueue {
  readonly #sender: SpanSender;
  readonly #limits: Pick<TraceSettings, 'maxQueued' | 'maxBatch' | 'delayMs'>;
  #waiting: Span[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #closing = new AbortController();
  #exported = 0;
  readonly #dropped: Record<DropReason, number> = { queue_full: 0, refused: 0, failed: 0 };
  #isAnswered = false;
  #problem: string | undefined;

  constructor(sender: SpanSender, limits: Pick<TraceSettings, 'maxQueued' | 'maxBatch' | 'delayMs'>) {
    this.#sender = sender;
    this.#limits = limits;
  }

  get length(): number {
    return this.#waiting.length;
  }

  get exported(): number {
    return this.#exported;
  }

  get dropped(): Readonly<Record<DropReason, number>> {
    return this.#dropped;
  }

  /** Why the last export failed. Undefined: it did not. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Whether the receiver has answered at all. */
  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  offer(spans: readonly Span[]): void {
    if (this.#waiting.length + spans.length > this.#limits.maxQueued || this.#closing.signal.aborted) {
      this.#dropped.queue_full += spans.length;
      return;
    }
    this.#waiting.push(...spans);
    if (this.#sending !== undefined) return;
    if (this.#waiting.length >= this.#limits.maxBatch) this.#start();
    else this.#timer ??= setTimeout(() => this.#start(), this.#limits.delayMs).unref();
  }

  /** Sends an empty batch, to learn whether the receiver is there. */
  probe(): void {
    this.#sending ??= this.#sendBatch([], 1).finally(() => this.#goOn());
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    const isLate = new Promise<void>((resolve) => setTimeout(resolve, closingMs).unref());
    // A pause between two tries ends at once.
    this.#closing.abort();
    await Promise.race([this.#empty(), isLate]);
    this.#sender.close();
  }

  async #empty(): Promise<void> {
    await this.#sending;
    while (this.#waiting.length > 0) await this.#sendBatch(this.#takeBatch(), 1);
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#sendAll().finally(() => this.#goOn());
  }

  #goOn(): void {
    this.#sending = undefined;
    if (this.#waiting.length > 0 && !this.#closing.signal.aborted) this.offer([]);
  }

  async #sendAll(): Promise<void> {
    do await this.#sendBatch(this.#takeBatch(), mostTries);
    while (this.#waiting.length >= this.#limits.maxBatch && !this.#closing.signal.aborted);
  }

  #takeBatch(): Span[] {
    const batch = this.#waiting;
    this.#waiting = batch.splice(this.#limits.maxBatch);
    return batch;
  }

  async #sendBatch(batch: readonly Span[], tries: number): Promise<void> {
    for (let tried = 1; ; tried++) {
      const sent = await this.#sender.send(batch);
      this.#isAnswered = true;
      if (sent.how === 'taken') {
        const rejected = Math.min(batch.length, sent.rejected);
        this.#problem = rejected === 0 ? undefined : `the receiver rejected ${rejected} of ${batch.length} spans`;
        this.#exported += batch.length - rejected;
        this.#dropped.refused += rejected;
        return;
      }
      this.#problem = sent.why;
      const isOver = sent.how === 'refused' || tried >= tries || this.#closing.signal.aborted;
      if (isOver) {
        this.#dropped[sent.how === 'refused' ? 'refused' : 'failed'] += batch.length;
        return;
      }
      await this.#pause(Math.max(sent.afterMs, Math.min(longestPauseMs, firstPauseMs * 2 ** (tried - 1))));
    }
  }

  #pause(ms: number): Promise<void> {
    const { signal } = this.#closing;
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const timer = setTimeout(wake, ms).unref();
      signal.addEventListener('abort', wake);
      if (signal.aborted) wake();
    });
  }
}
