import { Worker } from 'node:worker_threads';
import { programFile } from '../../model/program-files.ts';
import type { Verified } from './verify-thread.ts';
import type { WriterOptions } from './writer.ts';

/** A long log is not read all the time. */
const leastPauseMs = 3000;
const pausePerReading = 20;

/** Reads all of log and state in a thread of its own, one reading at a time. */
export class BackgroundVerification {
  readonly #options: WriterOptions;
  readonly #onVerified: (problems: readonly string[]) => void;
  #worker: Worker | undefined;
  #repeating: NodeJS.Timeout | undefined;
  #isClosed = false;
  #startedAtMs = 0;
  #tookMs = 0;

  constructor(options: WriterOptions, onVerified: (problems: readonly string[]) => void) {
    this.#options = options;
    this.#onVerified = onVerified;
  }

  start(): void {
    clearTimeout(this.#repeating);
    if (this.#isClosed || this.#worker !== undefined) return;
    const worker = new Worker(programFile('storage/sqlite/verify-thread'), {
      workerData: this.#options,
      name: 'sallyport-verify',
    });
    this.#worker = worker;
    this.#startedAtMs = performance.now();
    // A stop does not wait for it.
    worker.unref();
    worker.once('message', ({ problems }: Verified) => this.#end(problems));
    // What could not be read was not found to be whole.
    worker.once('error', (error: Error) => this.#end([`The verification failed: ${error.message}.`]));
  }

  /** Once more, after a while. */
  repeat(): void {
    clearTimeout(this.#repeating);
    const pauseMs = Math.max(leastPauseMs, this.#tookMs * pausePerReading);
    if (!this.#isClosed) this.#repeating = setTimeout(() => this.start(), pauseMs).unref();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#repeating);
    await this.#worker?.terminate();
  }

  #end(problems: readonly string[]): void {
    this.#worker = undefined;
    this.#tookMs = performance.now() - this.#startedAtMs;
    if (!this.#isClosed) this.#onVerified(problems);
  }
}
