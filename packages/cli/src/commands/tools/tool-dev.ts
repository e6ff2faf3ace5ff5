import { exitCodes } from '@sallyport/contract/codes';
import { askArguments } from './ask-arguments.ts';
import type { CommandContext } from '../../command-context.ts';
import { openDevelopedTool } from './developed-tool.ts';
import type { DevelopedTool } from './developed-tool.ts';
import { interrupted, StoppedByPerson } from '../../client/failure.ts';
import { Questions } from '../../terminal/questions.ts';
import { readInputFor } from '../../terminal/read-input.ts';
import { runSteps, StepFailed } from '../../client/run-steps.ts';
import { showAnswer } from '../../client/show-answer.ts';
import { parseObject } from './parse-object.ts';
import type { ToolStanding } from './tool-standing.ts';
import { ToolTrial } from './tool-trial.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';
import type { Given } from '../../command-table.ts';
import type { devOptions } from './tool-commands.ts';

export type ToolDevOptions = Given<typeof devOptions>;

type Arguments = Readonly<Record<string, unknown>>;

/** Runs a tool again and again while somebody works on it: as agents would, in the sandbox, through every gate. */
export function developTool(
  what: string,
  pairs: readonly string[],
  options: ToolDevOptions,
  context: CommandContext,
): Promise<number> {
  const { input, inputFile, once = false } = options;
  const isGiven = pairs.length > 0 || input !== undefined || inputFile !== undefined;
  const sources = {
    pairs,
    ...(input === undefined ? {} : { input }),
    ...(inputFile === undefined ? {} : { inputFile }),
  };
  return runSteps(context, async (step) => {
    const tool = await openDevelopedTool(what, options, step, context);
    // A tool that is new is there once it was loaded.
    const given = await readInputFor(pairs.length > 0 ? (await tool.load()).name : what, sources, context);
    const trial = new ToolTrial(step, options, context);
    if (once || context.json || !context.terminal.interactive) return trial.run(await tool.load(), given);
    return new DevelopmentLoop(tool, trial, isGiven ? given : undefined, context).run();
  });
}

/** At a terminal: arguments, a run, and then whatever comes first: a key or a change. */
class DevelopmentLoop {
  readonly #tool: DevelopedTool;
  readonly #trial: ToolTrial;
  readonly #context: CommandContext;
  /** JSON. Undefined: the person is to be asked. */
  #input: string | undefined;
  /** What was typed last, offered again. */
  #typed: Arguments = {};

  constructor(tool: DevelopedTool, trial: ToolTrial, input: string | undefined, context: CommandContext) {
    this.#tool = tool;
    this.#trial = trial;
    this.#input = input;
    this.#context = context;
  }

  async run(): Promise<number> {
    for (;;) {
      await this.#runOnce();
      const next = await this.#awaitNext();
      if (next === 'leave') return exitCodes.success;
      if (next === 'other arguments') this.#input = undefined;
    }
  }

  /** Whatever goes wrong with this run, the next one may be better. */
  async #runOnce(): Promise<void> {
    try {
      const standing = await this.#tool.load();
      this.#input ??= await this.#askInput(standing);
      await this.#trial.run(standing, this.#input);
    } catch (error) {
      if (error instanceof StepFailed) showAnswer(error.answer, this.#context);
      else if (error instanceof StoppedByPerson && this.#input !== undefined)
        this.#context.terminal.note(error.message);
      else throw error;
    }
  }

  async #askInput({ definitionJson }: ToolStanding): Promise<string> {
    const { terminal } = this.#context;
    using questions = new Questions(terminal);
    const ask = (question: string) => questions.ask(question);
    const schema = (parseObject(definitionJson)['input_schema'] ?? {}) as Arguments;
    const typed = await askArguments(schema, this.#typed, ask, terminal);
    if (typed === undefined) throw interrupted();
    this.#typed = typed;
    return JSON.stringify(typed);
  }

  async #awaitNext(): Promise<'again' | 'other arguments' | 'leave'> {
    const { terminal } = this.#context;
    const changed = new AbortController();
    using resources = new DisposableStack();
    resources.use(this.#tool.onChange(() => changed.abort()));
    const questions = resources.use(new Questions(terminal));
    const keys = 'Enter runs it again, e asks for other arguments, q leaves; saving it runs it again too: ';
    const typed = await questions.ask(`\n${terminal.paint('dim', keys)}`, changed.signal);
    if (changed.signal.aborted) {
      terminal.print('', terminal.paint('dim', `${makeVisibleLine(this.#tool.path)} was saved.`));
      return 'again';
    }
    if (typed === undefined || /^q/i.test(typed.trim())) return 'leave';
    return /^e/i.test(typed.trim()) ? 'other arguments' : 'again';
  }
}
