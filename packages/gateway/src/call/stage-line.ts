import { Fault } from './fault.ts';
import type { Closer, Context, Ending, Stage } from './stage.ts';

type AnyStage = Stage<never>;

type OnFault = (closer: string, error: unknown) => void;

/** Hears when a stage or required closer has ended that began then, by `performance.now`, and says when that was. */
export type TimeStage = (call: object, stage: string, fromMs: number) => number;

/**
 * The stages in their order, built one line a stage. `Marks` are the facts that are there at each named place, so that
 * a part of the line can be used on its own and still has to be given all it needs.
 */
export class StageLine<Input extends object, Facts extends Input, Marks extends Record<string, object> = {}> {
  readonly #stages: readonly AnyStage[];
  readonly #closers: readonly Closer<Facts>[];
  readonly #marks: Readonly<Record<string, number>>;
  readonly #onFault: OnFault;
  readonly #time: TimeStage | undefined;

  private constructor(
    stages: readonly AnyStage[],
    closers: readonly Closer<Facts>[],
    marks: Readonly<Record<string, number>>,
    onFault: OnFault,
    time: TimeStage | undefined,
  ) {
    this.#stages = stages;
    this.#closers = closers;
    this.#marks = marks;
    this.#onFault = onFault;
    this.#time = time;
  }

  /** `onFault` is told which best-effort closer failed. `time` absent: nobody wants to know how long stages take. */
  static from<Input extends object>(onFault: OnFault, time?: TimeStage): StageLine<Input, Input> {
    return new StageLine<Input, Input>([], [], {}, onFault, time);
  }

  stage<Adds extends object>(stage: Stage<Facts, Adds>): StageLine<Input, Facts & Adds, Marks> {
    return new StageLine([...this.#stages, stage as AnyStage], [], this.#marks, this.#onFault, this.#time);
  }

  /** Names this place in the line, for `between`. */
  mark<Name extends string>(name: Name): StageLine<Input, Facts, Marks & Record<Name, Facts>> {
    const marks = { ...this.#marks, [name]: this.#stages.length };
    return new StageLine(this.#stages, this.#closers, marks, this.#onFault, this.#time);
  }

  /** The same stages from one mark to another, without closers. Its calls begin with all facts of the first mark. */
  between<From extends keyof Marks & string, To extends keyof Marks & string>(
    from: From,
    to: To,
  ): StageLine<Marks[From], Marks[From] & Marks[To]> {
    return new StageLine(this.#stages.slice(this.#marks[from], this.#marks[to]), [], {}, this.#onFault, undefined);
  }

  /** Closers come after the last stage, because they see all facts. */
  closer(closer: Closer<Facts>): StageLine<Input, Facts, Marks> {
    return new StageLine(this.#stages, [...this.#closers, closer], this.#marks, this.#onFault, this.#time);
  }

  get names(): readonly string[] {
    return [...this.#stages.map((stage) => stage.name), ...this.#closers.map((closer) => closer.name)];
  }

  /**
   * Takes over the call. Never throws: whatever happens becomes an ending, and the ending is on record when this returns.
   */
  async run(call: Input, context: Context): Promise<Ending<Facts>> {
    const time = this.#time;
    let fromMs = time === undefined ? 0 : performance.now();
    let ending: Ending<Facts> = { kind: 'completed', call: call as Facts };
    const stages = this.#stages;
    // By number: an iterator makes an object for each stage, because this function waits in between.
    for (let at = 0; at < stages.length; at++) {
      const stage = stages[at] as AnyStage;
      try {
        const passing = stage.run(call as never, context);
        const refusal = passing instanceof Promise ? await passing : passing;
        if (time !== undefined) fromMs = time(call, stage.name, fromMs);
        if (refusal === undefined) continue;
        ending = { kind: 'refused', call, refusal, stage: stage.name };
      } catch (error) {
        time?.(call, stage.name, fromMs);
        const fault = error instanceof Error ? error : new Error(String(error));
        ending = { kind: 'faulted', call, fault, stage: stage.name };
      }
      break;
    }
    for (const closer of this.#closers) {
      if (!closer.required) continue;
      if (time !== undefined) fromMs = performance.now();
      try {
        const closing = closer.run(ending, context);
        if (closing !== undefined) await closing;
      } catch (error) {
        const fault = error instanceof Fault ? error : new Fault('INTERNAL', `${closer.name} failed`, { cause: error });
        ending = { kind: 'faulted', call: ending.call, fault, stage: closer.name };
      }
      time?.(call, closer.name, fromMs);
    }
    for (const closer of this.#closers) {
      if (!closer.required) this.#runLoosely(closer, ending, context);
    }
    return ending;
  }

  #runLoosely(closer: Closer<Facts>, ending: Ending<Facts>, context: Context): void {
    try {
      closer.run(ending, context)?.catch((error: unknown) => this.#onFault(closer.name, error));
    } catch (error) {
      this.#onFault(closer.name, error);
    }
  }
}
