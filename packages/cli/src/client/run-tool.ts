import { exitCodes } from '@sallyport/contract/codes';
import { command, flag, spellField } from '../command-table.ts';
import type { CommandSpec, Declaration, Given, Specs } from '../command-table.ts';
import { outputOf, statusOf } from './answer-json.ts';
import type { CommandContext } from '../command-context.ts';
import { completeIds } from '../terminal/short-id.ts';
import { seekConsent } from './run-steps.ts';
import { showAnswer } from './show-answer.ts';
import { runCall } from '../commands/tools/tool-invoke.ts';
import { visibleJson } from '../terminal/visible-text.ts';

interface ToolRun<Output> {
  readonly show: (output: Output) => void | Promise<void>;
  /** Absent: every output is good news. */
  readonly exitCodeOf?: (output: Output) => number;
  /** What --json prints. Absent: the output of the tool itself. */
  readonly jsonOf?: (output: Output) => unknown;
  /** `agreed`: the person agreed beforehand. Absent: the gate's own question is asked. */
  readonly consent?: 'agreed';
}

async function perform<Output>(
  name: string,
  input: object,
  context: CommandContext,
  { show, exitCodeOf, jsonOf = (output) => output, ...options }: ToolRun<Output>,
): Promise<number> {
  const answer = await runCall({ name, inputJson: JSON.stringify(input) }, context, options);
  if (statusOf(answer) !== 'success') return showAnswer(answer, context);
  const output = outputOf(answer) as Output;
  if (context.json) context.terminal.print(visibleJson(jsonOf(output)));
  else await show(output);
  return exitCodeOf?.(output) ?? exitCodes.success;
}

/** Calls a tool of operators: without the operator's credential it ends here, with what to do. */
export async function runOperatorTool<Output>(
  name: string,
  input: object,
  context: CommandContext,
  show: ToolRun<Output>['show'],
  more: Omit<ToolRun<Output>, 'show'> = {},
): Promise<number> {
  context.openOperatorClient();
  return perform(name, await completeIds(input, context), context, { show, ...more });
}

interface ToolDeclaration<Arguments extends Specs, Options extends Specs, Output> extends Declaration<
  Arguments,
  Options
> {
  readonly tool: string | ((given: Given<Arguments, Options>) => string);
  /** The arguments of the tool. Absent: everything that was given, under the names that tools have for it. */
  readonly input?: (given: Given<Arguments, Options>, context: CommandContext) => object;
  /** Shows the output to a person. */
  readonly print: (output: Output, context: CommandContext, given: Given<Arguments, Options>) => void | Promise<void>;
  /** What --json prints. Absent: the output of the tool itself. */
  readonly json?: (output: Output, given: Given<Arguments, Options>) => unknown;
  readonly exitCodeOf?: (output: Output) => number;
  /** Asks the person in words of its own, unless --yes is given; the gate does not ask again. Absent: the gate asks. */
  readonly ask?: (given: Given<Arguments, Options>) => string;
}

/** With this option a script agrees to what a person at the terminal is asked. It is no argument of the tool. */
export const agree = { yes: flag('agree without being asked, for scripts') };

/** Declares a command that is the call of one tool of operators. */
export function operatorCommand<const Arguments extends Specs, const Options extends Specs, Output>(
  name: string,
  declaration: ToolDeclaration<Arguments, Options, Output>,
): CommandSpec {
  return declare(name, declaration, runOperatorTool<Output>);
}

/** The same for a tool that agents have as well: it is called with the caller's own credential. */
export function toolCommand<const Arguments extends Specs, const Options extends Specs, Output>(
  name: string,
  declaration: ToolDeclaration<Arguments, Options, Output>,
): CommandSpec {
  return declare(name, declaration, (tool, input, context, show, more) =>
    perform<Output>(tool, input, context, { show, ...more }),
  );
}

function declare<Arguments extends Specs, Options extends Specs, Output>(
  name: string,
  declaration: ToolDeclaration<Arguments, Options, Output>,
  run: typeof runOperatorTool<Output>,
): CommandSpec {
  const { tool, input = fieldsOf, print, json, exitCodeOf, ask, ...more } = declaration;
  return command<Arguments, Options>(name, {
    ...more,
    run: async (given, context) => {
      const isAgreed = 'yes' in given && given.yes === true;
      if (ask !== undefined) {
        context.openOperatorClient();
        await seekConsent(ask(given), { yes: isAgreed }, context);
      }
      const called = typeof tool === 'string' ? tool : tool(given);
      return run(called, input(given, context), context, (output) => print(output, context, given), {
        ...(exitCodeOf === undefined ? {} : { exitCodeOf }),
        ...(json === undefined ? {} : { jsonOf: (output: Output) => json(output, given) }),
        ...(isAgreed || ask !== undefined ? { consent: 'agreed' } : {}),
      });
    },
  });
}

function fieldsOf(given: object): object {
  const fields = Object.entries(given).filter(([name]) => name !== 'yes');
  return Object.fromEntries(fields.map(([name, value]) => [spellField(name), value]));
}
