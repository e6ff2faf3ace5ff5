import { ApprovalDesk } from './approval-desk.ts';
import type { ApprovalEvent } from './approval-desk.ts';
import type { CommandContext } from '../../command-context.ts';
import { KeyReader } from '../../terminal/key-reader.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';

/** Shows what waits as it comes. At a terminal a key decides; otherwise each event is a line. */
export async function watchApprovals(context: CommandContext): Promise<number> {
  const client = context.openOperatorClient();
  const { signal, abort } = openExit();
  const follow = async (onEvent: (event: ApprovalEvent) => void): Promise<void> => {
    const events = client.watch('ApprovalService/WatchApprovals', {}, { signal });
    for await (const { event, approval } of events) if (approval !== undefined) onEvent({ event, approval });
  };
  if (context.json || !context.terminal.interactive) {
    await follow((event) => printEvent(event, context));
    return 0;
  }
  using keys = new KeyReader(context.terminal);
  const desk = new ApprovalDesk({ client, context, keys });
  const serving = desk.serve().finally(abort);
  await follow((event) => desk.hear(event)).finally(() => desk.close());
  await serving;
  return 0;
}

function printEvent({ event, approval }: ApprovalEvent, { json, terminal }: CommandContext): void {
  const { id, agent, tool, title, risk, decidedBy } = approval;
  const words = [event, id, agent, risk, `${tool}: ${title}`, decidedBy].filter((word) => word !== '');
  terminal.print(json ? visibleJson({ event, approval }) : words.map(makeVisibleLine).join('  '));
}

/** Ctrl-C ends the watch, which is no failure. */
export function openExit(): { readonly signal: AbortSignal; readonly abort: () => void } {
  const exit = new AbortController();
  const abort = (): void => exit.abort();
  process.once('SIGINT', abort);
  return { signal: exit.signal, abort };
}
