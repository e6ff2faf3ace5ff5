import type { Worker } from 'node:worker_threads';
import { Fault } from '../../call/fault.ts';
import type { Settlement } from '../stores.ts';
import { BackgroundVerification } from './background-verification.ts';
import { flattenOperation, readIndex } from './flat-operations.ts';
import type { FlatAnswer, FlatOperations } from './flat-operations.ts';
import { SentValues } from './repeated-values.ts';
import type { Touched } from './state/state-versions.ts';
import type { FromWriter, ToWriter } from './writer-thread.ts';
import type { Operation } from './operation.ts';
import type { Sealed, WriterOptions } from './writer.ts';

/**
 * Operations go over in few messages, because each message wakes the other thread, and mostly costs a commit. This many
 * do not wait any more: the two threads would take turns instead of working at the same time.
 */
const mostHeld = 16;
/** After a group of this size, calls are many at once: operations wait for those of the next turns of the event loop. */
const fewHeld = 4;
/** Turns may be long. */
const mostHeldMs = 0.3;

interface Waiting {
  readonly operation: Operation;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Keeps the snapshot in memory current. */
export interface StateFollower {
  /** Reads what a write has changed, before its caller gets an answer. */
  readonly refresh: (touched: Touched, version: number) => void;
  /** Reads all of it again: what was read while the store was sealed may have been changed by somebody else. */
  readonly reload: () => void;
}

/**
 * The thread that writes, as the main thread sees it. Operations go over in the order in which they are given, and are
 * answered in it. When the thread cannot write, or somebody else has, the link is sealed: it refuses until that is
 * over.
 */
export class WriterLink {
  readonly #worker: Worker;
  readonly #follower: StateFollower;
  readonly #verification: BackgroundVerification;
  /** In the order in which the writer answers. */
  #waiting: Waiting[] = [];
  readonly #compacting: ((isDone: boolean) => void)[] = [];
  readonly #sealListeners: ((reason: string) => void)[] = [];
  readonly #healListeners: ((reason: string) => void)[] = [];
  /** Outcomes that a sealed store could not write. Nothing new is admitted then, so there are few. */
  #unrecorded: Settlement[] = [];
  #outgoing: FlatOperations = [];
  readonly #sent = new SentValues();
  /** Operations in it. */
  #held = 0;
  #heldSinceMs = 0;
  #isHolding = false;
  /** Operations in the last message. */
  #lastHeld = 0;
  #isBehind = false;
  #sealed: Sealed | undefined;
  #closed: (() => void) | undefined;
  #isWriterGone = false;

  constructor(worker: Worker, options: WriterOptions, follower: StateFollower) {
    this.#worker = worker;
    this.#follower = follower;
    this.#verification = new BackgroundVerification(options, (problems) => this.#verified(problems));
    worker.on('message', (message: FromWriter) => this.#receive(message));
    worker.on('error', (error: Error) => this.#fail(`the writer thread failed: ${error.message}`));
    worker.on('exit', () => this.#fail('the writer thread has ended'));
  }

  /** How many operations wait for an answer. */
  get unwritten(): number {
    return this.#waiting.length;
  }

  /** Why it is sealed. Undefined: it is not. */
  get sealedBecause(): string | undefined {
    return this.#sealed?.reason;
  }

  onSealed(listener: (reason: string) => void): void {
    this.#sealListeners.push(listener);
  }

  onHealed(listener: (reason: string) => void): void {
    this.#healListeners.push(listener);
  }

  verifyInBackground(): void {
    this.#verification.start();
  }

  compact(how: { readonly isRoutine: boolean }): Promise<boolean> {
    return new Promise((resolve) => {
      this.#compacting.push(resolve);
      this.#tell({ compact: how });
    });
  }

  /** Resolves when the thread has written everything and has ended. */
  async close(): Promise<void> {
    this.#verification.close();
    await new Promise<void>((resolve) => {
      this.#closed = resolve;
      this.#tell('close');
    });
  }

  /** Resolves when it is durable. Rejects with Fault: SEALED, STOPPING or INTERNAL. */
  write<Value>(operation: Operation): Promise<Value> {
    if (this.#closed !== undefined) return Promise.reject(new Fault('STOPPING', 'the store is closed'));
    return new Promise<Value>((resolve, reject) => {
      this.#waiting.push({ operation, resolve: resolve as (value: unknown) => void, reject });
      flattenOperation(operation, this.#outgoing, this.#sent);
      if (++this.#held === mostHeld) this.#flush();
      else if (!this.#isHolding) this.#hold(0);
    });
  }

  /**
   * Until the end of this turn of the event loop. When there are many calls at once, until the end of a turn that has
   * brought no more operations: no timer delays a call, and none waits while this thread has nothing to do.
   */
  #hold(before: number): void {
    this.#isHolding = true;
    if (before === 0) this.#heldSinceMs = performance.now();
    setImmediate(() => {
      const held = this.#held;
      const isDue = held === before || this.#lastHeld < fewHeld || performance.now() - this.#heldSinceMs > mostHeldMs;
      if (held > 0 && !isDue) return this.#hold(held);
      this.#isHolding = false;
      this.#flush();
    });
  }

  /** After all operations so far. */
  #tell(message: Exclude<ToWriter, FlatOperations>): void {
    this.#flush();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows; a worker takes none
    this.#worker.postMessage(message);
  }

  #flush(): void {
    const operations = this.#outgoing;
    if (operations.length === 0) return;
    this.#outgoing = [];
    this.#lastHeld = this.#held;
    this.#held = 0;
    this.#heldSinceMs = performance.now();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows; a worker takes none
    this.#worker.postMessage(operations);
  }

  /**
   * Waits until counts and spending in the tables are those of all writes that were answered. A sealed store cannot
   * write them; then they are those of a moment ago.
   */
  async catchUp(): Promise<void> {
    if (this.#isBehind) await this.write<void>({ name: 'catchUp' }).catch(() => undefined);
  }

  #receive(message: FromWriter): void {
    switch (message.kind) {
      case 'closed':
        return this.#closed?.();
      case 'sealed':
        return this.#seal(message.sealed);
      case 'healed':
        return this.#heal();
      case 'compacted':
        return this.#compacting.shift()?.(message.isDone);
      case 'written':
        // Before the answers, so that no caller sees a failed write while the store still looks healthy.
        if (message.sealed !== undefined) this.#seal(message.sealed);
        this.#isBehind = message.isBehind;
        // The snapshot has all changes before any caller gets its answer.
        for (const answer of message.answers)
          if (typeof answer === 'object' && answer.ok && answer.touched !== undefined) this.#follow(answer.touched);
        return this.#answer(message.answers);
      // Only at the opening, before there is a store.
      case 'ready':
      case 'failed':
    }
  }

  #follow({ version, what }: { readonly version: number; readonly what: readonly Touched[] }): void {
    for (const touched of what) this.#follower.refresh(touched, version);
  }

  #answer(answers: readonly FlatAnswer[]): void {
    const answered = this.#waiting;
    this.#waiting = answered.splice(answers.length);
    for (let at = 0; at < answered.length; at++) {
      const { operation, resolve, reject } = answered[at] as Waiting;
      const answer = answers[at] as FlatAnswer;
      if (typeof answer === 'number') resolve(readIndex(operation, answer));
      else if (answer.ok) resolve(answer.value);
      else if (answer.sealed) this.#refuse({ operation, reject }, answer.error);
      else reject(new Fault('INTERNAL', answer.error));
    }
  }

  #refuse({ operation, reject }: Pick<Waiting, 'operation' | 'reject'>, reason: string): void {
    if (operation.name === 'settle') this.#unrecorded.push(operation.settlement);
    reject(new Fault('SEALED', reason, { forOperators: this.#describeWayOut() }));
  }

  #describeWayOut(): string {
    if (this.#sealed?.isChanged === true) {
      return (
        '`sallyport audit verify` says what was changed. The gate opens again when everything is as the gate wrote it: ' +
        'restore sallyport.db from a backup.'
      );
    }
    const next = this.#isWriterGone
      ? 'A restart opens the gate again.'
      : 'The gate opens again when the cause is gone.';
    return `\`sallyport status\` says why. ${next}`;
  }

  #seal(sealed: Sealed): void {
    const before = this.#sealed;
    if (before !== undefined && (before.isChanged || !sealed.isChanged)) return;
    this.#sealed = sealed;
    if (sealed.isChanged) this.#verification.start({ isThorough: true });
    for (const listener of this.#sealListeners) listener(sealed.reason);
  }

  #heal(): void {
    const reason = this.#sealed?.reason;
    if (reason === undefined) return;
    this.#sealed = undefined;
    const late = this.#unrecorded;
    this.#unrecorded = [];
    // A settlement that fails again is kept again, unless it was recorded after all.
    for (const settlement of late) this.write({ name: 'settle', settlement }).catch(() => undefined);
    // What was read while sealed may have been changed by somebody else.
    this.#follower.reload();
    for (const listener of this.#healListeners) listener(reason);
  }

  /** Seals the store if something was changed, and opens it again if everything is intact again. */
  #verified(problems: readonly string[]): void {
    if (problems.length > 0) {
      const sealed = {
        reason: `something other than Sallyport changed its database. ${problems.join(' ')}`,
        isChanged: true,
      };
      this.#tell({ seal: sealed });
      this.#seal(sealed);
    } else if (this.#sealed?.isChanged === true) {
      this.#tell('verified');
    }
    if (this.#sealed?.isChanged === true) this.#verification.repeat();
  }

  #fail(reason: string): void {
    this.#isWriterGone = true;
    if (this.#closed === undefined) this.#seal({ reason, isChanged: false });
    for (const waiting of this.#waiting.splice(0)) this.#refuse(waiting, reason);
    for (const resolve of this.#compacting.splice(0)) resolve(false);
    this.#closed?.();
  }
}
