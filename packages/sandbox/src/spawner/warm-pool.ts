import type { Mount, Program, RunOptions } from '../program.ts';
import type { ProgramRun } from './program-run.ts';

export interface WarmLimits {
  /** The most programs that wait; each holds the memory of a started runtime. */
  readonly maxIdle: number;
  readonly maxAgeMs: number;
}

export const defaultWarmLimits: WarmLimits = { maxIdle: 8, maxAgeMs: 5 * 60 * 1000 };
/** The most sandboxes in which nothing runs yet: each holds two small processes. */
export const defaultPreparedLimits: WarmLimits = { maxIdle: 8, maxAgeMs: 10_000 };

/** Call `dropWarm` when anything that a key stands for changes. */
export type WarmRunOptions = RunOptions;

interface Recipe {
  readonly program: Program;
  readonly fingerprint: string;
  idle: Idle | undefined;
}

interface Idle {
  readonly run: ProgramRun;
  readonly timer: NodeJS.Timeout;
  isReady: boolean;
}

/**
 * Programs started ahead that wait for their input, or sandboxes built ahead that wait for theirs, at most one per key.
 * Each serves one call and is never used again; one that is too old, ends, or writes something before its call is
 * dropped.
 */
export class WarmPool {
  readonly #limits: WarmLimits;
  readonly #startHeld: (program: Program) => ProgramRun;
  /** The one used longest ago first. */
  readonly #recipes = new Map<string, Recipe>();

  constructor(limits: WarmLimits, startHeld: (program: Program) => ProgramRun) {
    this.#limits = limits;
    this.#startHeld = startHeld;
  }

  /** Starts one for the key unless one waits already. False when the program is of a kind that is never kept warm. */
  prepare(key: string, program: Program): boolean {
    if (!canWait(program) || this.#limits.maxIdle < 1) return false;
    const fingerprint = fingerprintOf(program);
    const known = this.#recipes.get(key);
    this.#recipes.delete(key);
    if (known !== undefined && known.fingerprint !== fingerprint) this.#discard(known);
    const recipe =
      known?.fingerprint === fingerprint ? known : { program: withoutInput(program), fingerprint, idle: undefined };
    this.#recipes.set(key, recipe);
    this.#makeRoom();
    if (recipe.idle === undefined) this.#start(recipe);
    return true;
  }

  /** One that waits and was started for exactly this program. It belongs to the caller from then on. */
  take(key: string, program: Program): ProgramRun | undefined {
    const recipe = this.#recipes.get(key);
    if (recipe?.idle?.isReady !== true || !canWait(program)) return undefined;
    if (recipe.fingerprint !== fingerprintOf(program)) return undefined;
    const { run, timer } = recipe.idle;
    if (!run.isWanted) return undefined;
    clearTimeout(timer);
    recipe.idle = undefined;
    return run;
  }

  markReady(run: ProgramRun): void {
    for (const { idle } of this.#recipes.values()) if (idle?.run === run) idle.isReady = true;
  }

  has(key: string): boolean {
    return this.#recipes.has(key);
  }

  /** Resolves when those that waited are gone. */
  async drop(isMeant: (key: string) => boolean): Promise<void> {
    const ending: Promise<unknown>[] = [];
    for (const [key, recipe] of this.#recipes) {
      if (!isMeant(key)) continue;
      this.#recipes.delete(key);
      if (recipe.idle !== undefined) ending.push(recipe.idle.run.ended.catch(() => undefined));
      this.#discard(recipe);
    }
    await Promise.all(ending);
  }

  #start(recipe: Recipe): void {
    const run = this.#startHeld(recipe.program);
    const timer = setTimeout(() => this.#discard(recipe), this.#limits.maxAgeMs).unref();
    const idle: Idle = { run, timer, isReady: false };
    recipe.idle = idle;
    const forget = (): void => {
      clearTimeout(timer);
      if (recipe.idle === idle) recipe.idle = undefined;
    };
    run.ended.then(forget, forget);
  }

  #discard(recipe: Recipe): void {
    const { idle } = recipe;
    recipe.idle = undefined;
    if (idle === undefined) return;
    clearTimeout(idle.timer);
    idle.run.kill();
  }

  #makeRoom(): void {
    for (const [key, recipe] of this.#recipes) {
      if (this.#recipes.size <= this.#limits.maxIdle) return;
      this.#recipes.delete(key);
      this.#discard(recipe);
    }
  }
}

/**
 * Nothing that was decided for one call may wait for another: no folder to change, no host or socket to reach, and
 * nothing that is hidden, because what is put in its place meanwhile would not be.
 */
function canWait({ isolation, hosts, unixSockets = false, mounts }: Program): boolean {
  const isPlain = ({ access, hidden = [], frozen = [] }: Mount): boolean =>
    access === 'read' && hidden.length + frozen.length === 0;
  return isolation === 'sandbox' && hosts.length === 0 && !unixSockets && mounts.every(isPlain);
}

function withoutInput(program: Program): Program {
  return { ...program, stdin: new Uint8Array() };
}

function fingerprintOf({ argv, environment, workingDirectory, mounts, limits, mayAnswer }: Program): string {
  return JSON.stringify([argv, environment, workingDirectory, mounts, limits, mayAnswer === true]);
}
