import type { Socket } from 'node:net';
import { ProgramNotStarted, ProgramLost } from '../program.ts';
import type { OpenProgram, Program, ProgramEnd, RunOptions } from '../program.ts';
import type { CgroupPlace } from '../launch/cgroup-places.ts';
import { readCpuMs } from '../launch/cgroup.ts';
import { HandedInput, HandedOutput } from './handed-pipes.ts';
import type { InputTime, Order, Report } from './messages.ts';
import { withResolvers } from '../with-resolvers.ts';

/** Acknowledging less at a time would cost messages, and the window is four times as large. */
const acknowledgeBytes = 64 * 1024;

/**
 * One run as the daemon sees it: hands output to its consumer in order, and tells the spawner how much was consumed.
 */
export class ProgramRun {
  readonly id: number;
  readonly program: Program;
  /** Where to read what it uses, once it runs. Undefined: the spawner has to be asked. */
  cpuPlace: CgroupPlace | undefined;
  /** Settles when every process is gone and all output is consumed; after an abort the output does not matter. */
  readonly ended: Promise<ProgramEnd>;
  readonly #send: (order: Order) => void;
  readonly #settle: PromiseWithResolvers<ProgramEnd>;
  #consumer: RunOptions | undefined;
  #consuming: Promise<void> = Promise.resolve();
  #consumedBytes = 0;
  /** The callers that asked for the usage, in their order. */
  readonly #measuring: ((cpuMs: number | undefined) => void)[] = [];
  #hasEnded = false;
  #input: HandedInput | undefined;
  #output: HandedOutput | undefined;
  #isKilled = false;
  #failure: { readonly error: unknown } | undefined;
  readonly #onAbort = (): void => this.kill();

  constructor(id: number, program: Program, send: (order: Order) => void) {
    this.id = id;
    this.program = program;
    this.#send = send;
    this.#settle = withResolvers<ProgramEnd>();
    this.ended = this.#settle.promise;
    // A caller that does not wait for the end, like a pool, does not get its error either.
    this.ended.catch(() => undefined);
    const tell = (): void => {
      this.#hasEnded = true;
      this.#closePipes();
      for (const answer of this.#measuring.splice(0)) answer(undefined);
    };
    this.ended.then(tell, tell);
  }

  /** False as soon as somebody wanted its end. */
  get isWanted(): boolean {
    return !this.#isKilled;
  }

  /** Whose output it is. Before that, output of a program that was to wait for its input ends it. */
  attach(consumer: RunOptions): void {
    this.#consumer = consumer;
    consumer.signal.addEventListener('abort', this.#onAbort, { once: true });
    if (consumer.signal.aborted) this.kill();
  }

  start(stdin: InputTime): void {
    this.#send({ kind: 'start', run: this.id, program: this.program, stdin });
  }

  /** The whole input of a program that waits for it. */
  feed(stdin: Uint8Array): void {
    if (this.#input === undefined) this.#send({ kind: 'feed', run: this.id, stdin });
    else this.#input.end(stdin);
  }

  /** A part of the input of a program that runs; the input goes on. */
  write(bytes: Uint8Array): void {
    if (this.#input?.write(bytes) === false) this.kill();
  }

  /** One of the pipes of the program, which nobody else reads or writes. */
  takePipe(stream: 'stdin' | 'stdout', pipe: Socket): void {
    if (stream === 'stdin') this.#input = new HandedInput(pipe);
    else this.#output = new HandedOutput(pipe, (bytes) => this.#consumeHanded(bytes));
    // It ended while the pipe was on its way.
    if (this.#hasEnded) this.#closePipes();
  }

  measure(): ReturnType<OpenProgram['measure']> {
    if (this.#hasEnded) return Promise.resolve({});
    const cpuMs = this.cpuPlace && readCpuMs(this.cpuPlace);
    if (cpuMs !== undefined) return Promise.resolve({ measuredBy: 'cgroup', cpuMs });
    const { promise, resolve } = withResolvers<number | undefined>();
    this.#measuring.push(resolve);
    this.#send({ kind: 'measure', run: this.id });
    return promise.then((answer) => (answer === undefined ? {} : { measuredBy: 'cgroup', cpuMs: answer }));
  }

  /** Ends it; `ended` settles when it has. */
  kill(): void {
    this.#isKilled = true;
    this.#send({ kind: 'kill', run: this.id });
  }

  take(report: Extract<Report, { kind: 'output' | 'network' | 'measured' | 'ended' | 'not-started' }>): void {
    if (report.kind === 'output') {
      this.#consuming = this.#consuming.then(() => this.#consume(report.stream, report.bytes));
    } else if (report.kind === 'network') {
      this.#consumer?.onNetwork?.(report.events);
    } else if (report.kind === 'measured') {
      this.#measuring.shift()?.(report.cpuMs);
    } else if (report.kind === 'ended') {
      void this.#finish(report.end);
    } else {
      const { code, message, isTransient, remedy } = report;
      const options = { isTransient, ...(remedy !== undefined && { remedy }) };
      this.#reject(new ProgramNotStarted(code, message, options));
    }
  }

  /** Its spawner has ended. */
  lose(): void {
    if (this.#consumer?.signal.aborted === true) this.resolveAborted();
    else this.#reject(new ProgramLost());
  }

  /** It never ran. */
  refuse(error: ProgramNotStarted): void {
    this.#reject(error);
  }

  resolveAborted(): void {
    this.#detach();
    this.#settle.resolve({ how: { kind: 'aborted' }, usage: {} });
  }

  async #consume(stream: 'stdout' | 'stderr', bytes: Uint8Array): Promise<void> {
    const consumer = this.#consumer;
    if (consumer === undefined) this.kill();
    if (consumer === undefined || consumer.signal.aborted || this.#failure !== undefined) return;
    try {
      await (stream === 'stdout' ? consumer.onStdout(bytes) : consumer.onStderr(bytes));
    } catch (error) {
      this.#fail(error);
    }
    this.#consumedBytes += bytes.length;
    if (this.#consumedBytes < acknowledgeBytes) return;
    this.#send({ kind: 'acknowledge', run: this.id, bytes: this.#consumedBytes });
    this.#consumedBytes = 0;
  }

  /** Undefined: it is consumed. Otherwise the next bytes wait for it. */
  #consumeHanded(bytes: Uint8Array): Promise<void> | undefined {
    const consumer = this.#consumer;
    if (consumer === undefined || consumer.signal.aborted || this.#failure !== undefined) return undefined;
    try {
      return consumer.onStdout(bytes)?.catch((error: unknown) => this.#fail(error));
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  #fail(error: unknown): void {
    this.#failure = { error };
    this.kill();
  }

  #closePipes(): void {
    this.#input?.close();
    this.#output?.close();
  }

  async #finish(end: ProgramEnd): Promise<void> {
    await Promise.race([Promise.all([this.#consuming, this.#output?.drain()]), this.#aborted()]);
    this.#detach();
    if (this.#failure === undefined) this.#settle.resolve(end);
    else this.#settle.reject(this.#failure.error);
  }

  /** A consumer that hangs must not hold up its own abort. */
  #aborted(): Promise<void> {
    const signal = this.#consumer?.signal;
    if (signal === undefined || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  }

  #reject(error: Error): void {
    this.#detach();
    this.#settle.reject(error);
  }

  #detach(): void {
    this.#consumer?.signal.removeEventListener('abort', this.#onAbort);
  }
}
