import type { ConsoleLink, InJson } from '@sallyport/contract';
import { outputOf, statusOf } from '../../client/answer-json.ts';
import type { CommandContext } from '../../command-context.ts';
import { runOperatorTool } from '../../client/run-tool.ts';

/** Prints a link to the web console. Opening it is the person's own doing: a browser may not even run on this machine. */
export function showConsoleLink(context: CommandContext): Promise<number> {
  return runOperatorTool('console.link', {}, context, ({ link }: InJson<ConsoleLink>) => {
    const { print, paint } = context.terminal;
    print('Open this in a browser on this machine, within a minute. It works once:', '', `  ${paint('bold', link)}`);
  });
}

/** Undefined when no link can be made: the greeting works without it. */
export async function requestConsoleLink(context: CommandContext): Promise<string | undefined> {
  try {
    const answer = await context.openOperatorClient().executeTool({ name: 'console.link' });
    return statusOf(answer) === 'success' ? (outputOf(answer) as InJson<ConsoleLink>).link : undefined;
  } catch {
    return undefined;
  }
}
