import { exitCodes } from '@sallyport/contract/codes';
import { command, spellField } from '../command-table.ts';
import type { CommandSpec, Declaration, Given, Specs } from '../command-table.ts';
import { outputOf, statusOf } from './answer-json.ts';
import type { CommandContext } from '../command-context.ts';
import { completeIds } from '../terminal/short-id.ts';
import { showAnswer } from './show-answer.ts';
import { runCall } from '../commands/tools/tool-invoke.ts';
import { visibleJson } from '../terminal/visible-text.ts';

/** Calls a tool as whoever is asking. With --json a success is the output of the tool itself. */
export async function runTool<Output>(
  name: string,
  input: object,
  context: CommandContext,
  show: (output: Output) => void | Promise<void>,
  /** Absent: every output is good news. */
  exitCodeOf: (output: Output) => number = () => exitCodes.success,
): Promise<number> {
  const answer = await runCall({ name, inputJson: JSON.stringify(input) }, context);
  if (statusOf(answer) !== 'success') return showAnswer(answer, context);
  const output = outputOf(answer) as Output;
  if (context.json) context.terminal.print(visibleJson(output));
  else await show(output);
  return exitCodeOf(output);
}

/** The same for tools of operators: without the operator's credential it ends here, with what to do. */
export const runOperatorTool: typeof runTool = async (name, input, context, ...more) => {
  context.openOperatorClient();
  return runTool(name, await completeIds(input, context), context, ...more);
};

interface ToolDeclaration<Arguments extends Specs, Options extends Specs, Output> extends Declaration<
  Arguments,
  Options
> {
  readonly tool: string;
  /** The arguments of the tool. Absent: everything that was given, under the names that tools have for it. */
  readonly input?: (given: Given<Arguments, Options>, context: CommandContext) => object;
  /** Shows the output to a person. */
  readonly print: (output: Output, context: CommandContext, given: Given<Arguments, Options>) => void | Promise<void>;
}

/** Declares a command that is the call of one tool of operators. */
export function operatorCommand<const Arguments extends Specs, const Options extends Specs, Output>(
  name: string,
  { tool, input = fieldsOf, print, ...declaration }: ToolDeclaration<Arguments, Options, Output>,
): CommandSpec {
  return command<Arguments, Options>(name, {
    ...declaration,
    run: (given, context) =>
      runOperatorTool<Output>(tool, input(given, context), context, (output) => print(output, context, given)),
  });
}

function fieldsOf(given: object): object {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [spellField(name), value]));
}
