import { exitCodes } from '@sallyport/contract/codes';
import { outputOf, statusOf } from './answer-json.ts';
import type { CommandContext } from '../command-context.ts';
import { StoppedByPerson, usageFailure } from './failure.ts';
import type { CommandFailure } from './failure.ts';
import { Questions } from '../terminal/questions.ts';
import { showAnswer } from './show-answer.ts';
import { runCall } from '../commands/tools/tool-invoke.ts';
import type { ExecuteToolResponseJson } from '@sallyport/contract';

/** One call of a command that makes several: its output. */
export type Step = <Output>(
  tool: string,
  input: object,
  /** `agreed`: the person was shown what this call does and said yes. Absent: the gate's own question is asked. */
  consent?: 'agreed',
) => Promise<Output>;

/** Runs a command of operators that makes several calls. A call that does not succeed ends it, and its answer is shown. */
export async function runSteps(context: CommandContext, command: (step: Step) => Promise<number>): Promise<number> {
  context.openOperatorClient();
  try {
    return await command(async (tool, input, consent) => {
      const answer = await runCall(
        { name: tool, inputJson: JSON.stringify(input) },
        context,
        consent === undefined ? {} : { consent },
      );
      if (statusOf(answer) !== 'success') throw new StepFailed(answer);
      return outputOf(answer) as never;
    });
  } catch (error) {
    if (error instanceof StepFailed) return showAnswer(error.answer, context);
    throw error;
  }
}

/** How a call within a command ended, when that was no success. */
export class StepFailed extends Error {
  readonly answer: ExecuteToolResponseJson;

  constructor(answer: ExecuteToolResponseJson) {
    super(answer.denied?.message ?? answer.error?.message ?? '');
    this.answer = answer;
  }
}

export interface ConsentOptions {
  /** Asks nothing. */
  readonly yes?: boolean;
}

/** Asks the person who was shown something. Throws when the answer is no, or nobody is there to give one. */
export async function seekConsent(
  question: string,
  { yes = false }: ConsentOptions,
  { terminal, json }: CommandContext,
): Promise<void> {
  if (yes) return;
  if (json || !terminal.interactive) {
    throw usageFailure(
      'There is no terminal to ask at.',
      'Run it at a terminal, or add --yes once you have looked at it.',
    );
  }
  using questions = new Questions(terminal);
  if (!(await questions.agrees(`\n${terminal.paint('bold', question)}`))) throw nothingChanged();
}

export function nothingChanged(): CommandFailure {
  return new StoppedByPerson('DECLINED', exitCodes.denied, 'Nothing was changed.');
}
