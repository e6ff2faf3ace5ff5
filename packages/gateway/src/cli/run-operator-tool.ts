import { outputOf, statusOf } from './answer-json.ts';
import type { CommandContext } from './command-context.ts';
import { showAnswer } from './show-answer.ts';
import { runCall } from './tool-invoke.ts';
import { visibleJson } from './visible-text.ts';

/** Calls a tool of operators. With --json a success is the output of the tool itself. */
export async function runOperatorTool(
  name: string,
  input: object,
  context: CommandContext,
  show: (output: unknown) => void | Promise<void>,
): Promise<number> {
  context.openOperatorClient();
  const answer = await runCall({ name, inputJson: JSON.stringify(input) }, context);
  if (statusOf(answer) !== 'success') return showAnswer(answer, context);
  if (context.json) context.terminal.print(visibleJson(outputOf(answer)));
  else await show(outputOf(answer));
  return 0;
}
