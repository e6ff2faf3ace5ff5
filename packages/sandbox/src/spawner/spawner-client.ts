import type { Socket } from 'node:net';
import { ProgramNotStarted } from '../program.ts';
import type { OpenProgram, Program, ProgramEnd, ProgramOpener, ProgramRunner, RunOptions } from '../program.ts';
import type { SandboxProbe } from '../launch/probe-sandbox.ts';
import type { Abilities, Enforcement, InputTime, Report } from './messages.ts';
import { ProgramRun } from './program-run.ts';
import { SpawnerLink } from './spawner-link.ts';
import { defaultPreparedLimits, defaultWarmLimits, WarmPool } from './warm-pool.ts';
import type { WarmLimits, WarmRunOptions } from './warm-pool.ts';
import { withResolvers } from '../with-resolvers.ts';

export interface SpawnerOptions {
  /** More wait for their turn. Absent: 64. */
  readonly maxRunning?: number;
  /** Absent: `kernel`. */
  readonly enforcement?: Enforcement;
  /** Absent: the spawner finds out what this machine has. */
  readonly sandbox?: SandboxProbe;
  /** As in Configuration. */
  readonly perl?: string;
  readonly warm?: WarmLimits;
  readonly prepared?: WarmLimits;
  /** Called with what an operator should know. Must not throw. Absent: not reported. */
  readonly onTrouble?: (message: string) => void;
}

const firstPauseMs = 50;
const longestPauseMs = 5000;
/** How often in a row a spawner may end before it is ready; then the waiting runs are rejected. */
const mostFailedStarts = 5;
const closeWithinMs = 5000;

/**
 * Runs programs through the spawner, which it starts at once and again whenever it ends. Any number of runs may be
 * asked for at once. Programs of a spawner that ends are gone when their runs reject; those that wait for their turn
 * run on the next one.
 */
export class SpawnerClient implements ProgramRunner, ProgramOpener {
  readonly #options: SpawnerOptions;
  readonly #maxRunning: number;
  readonly #queue = new Set<ProgramRun>();
  readonly #running = new Map<number, ProgramRun>();
  readonly #held = new Map<number, ProgramRun>();
  /** Called when a long-running program has started and can be written to. */
  readonly #opening = new Map<number, () => void>();
  readonly #warm: WarmPool;
  readonly #prepared: WarmPool;
  readonly #abilities = withResolvers<Abilities>();
  #link: SpawnerLink | undefined;
  #isReady = false;
  #failedStarts = 0;
  #restart: NodeJS.Timeout | undefined;
  #lastId = 0;
  #closing: PromiseWithResolvers<void> | undefined;

  constructor(options: SpawnerOptions = {}) {
    this.#options = options;
    this.#maxRunning = options.maxRunning ?? 64;
    const openPool = (limits: WarmLimits, stdin: InputTime): WarmPool =>
      new WarmPool(limits, (program) => this.#startAhead(program, stdin));
    this.#warm = openPool(options.warm ?? defaultWarmLimits, 'later');
    this.#prepared = openPool(options.prepared ?? defaultPreparedLimits, 'held');
    this.#startSpawner();
  }

  /** Of the process as it is now. Undefined between two of them. */
  get spawnerPid(): number | undefined {
    return this.#link?.pid;
  }

  /** Resolves when the first spawner is ready. */
  get abilities(): Promise<Abilities> {
    return this.#abilities.promise;
  }

  run(program: Program, options: WarmRunOptions): Promise<ProgramEnd> {
    const { warmKey, preparedKey, signal } = options;
    const take = (pool: WarmPool, key: string | undefined): ProgramRun | undefined =>
      key === undefined || signal.aborted ? undefined : pool.take(key, program);
    const warm = take(this.#warm, warmKey);
    const prepared = warm === undefined ? take(this.#prepared, preparedKey) : undefined;
    const waiting = warm ?? prepared;
    const run = waiting ?? this.#newRun(program);
    if (this.#closing !== undefined) {
      run.refuse(new ProgramNotStarted('EXECUTION_ERROR', 'The daemon is stopping.'));
      return run.ended;
    }
    if (waiting === undefined) {
      this.#enqueue(run, options);
    } else {
      this.#held.delete(run.id);
      this.#running.set(run.id, run);
      run.attach(options);
      run.feed(program.stdin);
    }
    if (warmKey !== undefined) this.#renew(this.#warm, warmKey, run);
    if (preparedKey !== undefined) this.#renew(this.#prepared, preparedKey, run);
    return prepared === undefined ? run.ended : this.#endOrStartAfresh(run, program, options);
  }

  /** It takes no place among the runs, which come to their end. */
  open(program: Program, options: RunOptions): OpenProgram {
    const run = this.#newRun(program);
    const { promise: started, resolve } = withResolvers<void>();
    run.attach(options);
    if (options.signal.aborted) run.resolveAborted();
    else if (this.#closing !== undefined || this.#link === undefined) {
      const isTransient = this.#closing === undefined;
      run.refuse(new ProgramNotStarted('EXECUTION_ERROR', 'The spawner is not running.', { isTransient }));
    } else {
      this.#held.set(run.id, run);
      this.#opening.set(run.id, resolve);
      // Connections of a program are reported before its output, so the output goes the same way.
      run.start(program.hosts.length === 0 ? 'handed' : 'later');
    }
    const forget = (): void => void this.#opening.delete(run.id);
    run.ended.then(forget, forget);
    return {
      ...{ started, ended: run.ended },
      write: (bytes) => run.write(bytes),
      measure: () => run.measure(),
      kill: () => run.kill(),
    };
  }

  /**
   * Starts a program ahead, for a later run with this key; every run with a key does that for the next one. False when
   * programs of its kind are not kept waiting, and while there is no spawner.
   */
  prepare(key: string, program: Program): boolean {
    return this.#startInPool(this.#warm, key, program);
  }

  /** Builds a sandbox ahead in the same way: nothing runs in it before the run that it serves. */
  prepareSandbox(key: string, program: Program): boolean {
    return this.#startInPool(this.#prepared, key, program);
  }

  /**
   * Ends programs and sandboxes that wait. Resolves when they are gone; a run that asks from now on gets a fresh one.
   */
  async dropWarm(isMeant: (key: string) => boolean = () => true): Promise<void> {
    await Promise.all([this.#warm.drop(isMeant), this.#prepared.drop(isMeant)]);
  }

  /** Kills what runs and ends the spawner. Resolves when nothing of it is left. Safe to call twice. */
  close(): Promise<void> {
    if (this.#closing !== undefined) return this.#closing.promise;
    this.#closing = withResolvers();
    for (const run of this.#queue) run.resolveAborted();
    this.#queue.clear();
    clearTimeout(this.#restart);
    const link = this.#link;
    if (link === undefined) this.#closing.resolve();
    link?.send({ kind: 'close' });
    const late = setTimeout(() => link?.kill(), closeWithinMs);
    return this.#closing.promise.finally(() => clearTimeout(late));
  }

  #newRun(program: Program): ProgramRun {
    this.#lastId += 1;
    return new ProgramRun(this.#lastId, program, (order) => this.#link?.send(order));
  }

  #enqueue(run: ProgramRun, options: WarmRunOptions): void {
    const { signal } = options;
    if (signal.aborted) {
      run.resolveAborted();
      return;
    }
    const leave = (): void => {
      if (this.#queue.delete(run)) run.resolveAborted();
    };
    signal.addEventListener('abort', leave, { once: true });
    const stopListening = (): void => signal.removeEventListener('abort', leave);
    run.ended.then(stopListening, stopListening);
    run.attach(options);
    this.#queue.add(run);
    this.#dispatch();
  }

  #dispatch(): void {
    if (!this.#isReady) return;
    for (const run of this.#queue) {
      if (this.#running.size >= this.#maxRunning) return;
      this.#queue.delete(run);
      this.#running.set(run.id, run);
      run.start('now');
    }
  }

  #startAhead(program: Program, stdin: InputTime): ProgramRun {
    const run = this.#newRun(program);
    this.#held.set(run.id, run);
    run.start(stdin);
    return run;
  }

  /** When the run is over, so that the next one does not compete with it. */
  #renew(pool: WarmPool, key: string, run: ProgramRun): void {
    const isKnown = pool.has(key);
    const prepare = (): void => {
      // Unless the key was dropped meanwhile.
      if (pool.has(key) === isKnown) this.#startInPool(pool, key, run.program);
    };
    // Whoever waits for the run goes on first.
    void run.ended.then(
      () => setImmediate(prepare),
      () => undefined,
    );
  }

  #startInPool(pool: WarmPool, key: string, program: Program): boolean {
    return this.#closing === undefined && this.#isReady && pool.prepare(key, program);
  }

  /** A prepared sandbox that cannot be used has cost a moment, and nothing ran in it. */
  async #endOrStartAfresh(run: ProgramRun, program: Program, options: WarmRunOptions): Promise<ProgramEnd> {
    try {
      return await run.ended;
    } catch (error) {
      if (!(error instanceof ProgramNotStarted && error.isTransient)) throw error;
      const { preparedKey: _, ...others } = options;
      return this.run(program, others);
    }
  }

  #startSpawner(): void {
    const { enforcement = 'kernel', sandbox, perl } = this.#options;
    const configuration = {
      enforcement,
      ...(sandbox !== undefined && { sandbox }),
      ...(perl !== undefined && { perl }),
    };
    this.#link = new SpawnerLink(configuration, {
      onReport: (report, pipe) => this.#take(report, pipe),
      onEnd: (why) => this.#takeEnd(why),
    });
  }

  #take(report: Report, pipe?: Socket): void {
    if (report.kind === 'ready') {
      this.#isReady = true;
      this.#abilities.resolve(report.abilities);
      this.#failedStarts = 0;
      this.#dispatch();
      return;
    }
    const run = this.#running.get(report.run) ?? this.#held.get(report.run);
    if (report.kind === 'handed') {
      if (run === undefined) pipe?.destroy();
      else run.takePipe(report.stream, pipe as Socket);
      return;
    }
    if (run === undefined) return;
    if (report.kind === 'started') {
      run.cpuPlace = report.cpuPlace;
      this.#opening.get(run.id)?.();
      this.#warm.markReady(run);
      this.#prepared.markReady(run);
      return;
    }
    run.take(report);
    if (report.kind === 'output' || report.kind === 'network' || report.kind === 'measured') return;
    this.#running.delete(run.id);
    this.#held.delete(run.id);
    this.#dispatch();
  }

  #takeEnd(why: string): void {
    this.#link = undefined;
    for (const run of [...this.#running.values(), ...this.#held.values()]) run.lose();
    this.#running.clear();
    this.#held.clear();
    if (this.#closing !== undefined) {
      this.#closing.resolve();
      return;
    }
    if (!this.#isReady) this.#failedStarts += 1;
    this.#isReady = false;
    this.#options.onTrouble?.(`The spawner ended (${why}) and is started again.`);
    if (this.#failedStarts >= mostFailedStarts) this.#refuseWaiting();
    const pauseMs = Math.min(firstPauseMs * 2 ** this.#failedStarts, longestPauseMs);
    this.#restart = setTimeout(() => this.#startSpawner(), pauseMs);
  }

  #refuseWaiting(): void {
    for (const run of this.#queue) {
      run.refuse(
        new ProgramNotStarted('EXECUTION_ERROR', 'The spawner does not start; the log says why.', {
          isTransient: true,
        }),
      );
    }
    this.#queue.clear();
  }
}
