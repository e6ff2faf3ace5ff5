import type { Worker } from 'node:worker_threads';
import { startThread } from './start-thread.ts';
import type { Verified, VerifyOptions } from './verify-thread.ts';
import type { WriterOptions } from './writer.ts';

/** Pause between readings, so that a long log is not read all the time. */
const leastPauseMs = 3000;
const pausePerReading = 20;

/** Reads all of log and state in a thread of its own, one reading at a time. */
export class BackgroundVerification {
  readonly #options: WriterOptions;
  readonly #onVerified: (problems: readonly string[]) => void;
  #worker: Worker | undefined;
  #repeating: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** Something changed after the current reading began, so its result proves nothing. */
  #isOutdated = false;
  #startedAtMs = 0;
  #tookMs = 0;

  constructor(options: WriterOptions, onVerified: (problems: readonly string[]) => void) {
    this.#options = options;
    this.#onVerified = onVerified;
  }

  /** `isThorough`: also reads every page of the database, because something is known to be wrong. */
  start({ isThorough = false } = {}): void {
    clearTimeout(this.#repeating);
    if (this.#isClosed) return;
    if (this.#worker !== undefined) {
      this.#isOutdated = true;
      return;
    }
    const workerData: VerifyOptions = { ...this.#options, isThorough };
    const worker = startThread('verify', { workerData });
    this.#worker = worker;
    this.#startedAtMs = performance.now();
    // A stop does not wait for it.
    worker.unref();
    worker.once('message', ({ problems }: Verified) => this.#end(problems));
    worker.once('error', () => this.#fail());
  }

  /** Reads everything again, after a while. */
  repeat(): void {
    clearTimeout(this.#repeating);
    const pauseMs = Math.max(leastPauseMs, this.#tookMs * pausePerReading);
    if (!this.#isClosed) this.#repeating = setTimeout(() => this.start({ isThorough: true }), pauseMs).unref();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#repeating);
    void this.#worker?.terminate();
  }

  /** The log could not be read, so it is neither intact nor changed. */
  #fail(): void {
    this.#worker = undefined;
    this.repeat();
  }

  #end(problems: readonly string[]): void {
    this.#worker = undefined;
    this.#tookMs = performance.now() - this.#startedAtMs;
    const isOutdated = this.#isOutdated;
    this.#isOutdated = false;
    if (isOutdated && problems.length === 0) this.start({ isThorough: true });
    else if (!this.#isClosed) this.#onVerified(problems);
  }
}
