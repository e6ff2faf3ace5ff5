import { ApprovalDesk } from './approval-desk.ts';
import type { ApprovalEvent } from './approval-desk.ts';
import { approvalToJson } from './approval-json.ts';
import type { WatchApprovalsJson } from './approval-json.ts';
import type { CommandContext } from './command-context.ts';
import type { DaemonClient } from './daemon-client.ts';
import { KeyReader } from './key-reader.ts';
import { streamJson } from './stream-json.ts';
import { makeVisibleLine, visibleJson } from './visible-text.ts';

/** Shows what waits as it comes. At a terminal a key decides; otherwise each event is a line. */
export async function watchApprovals(context: CommandContext): Promise<number> {
  const client = context.openOperatorClient();
  const { signal, abort } = openExit();
  if (context.json || !context.terminal.interactive) {
    await followApprovals(client, signal, (event) => printEvent(event, context));
    return 0;
  }
  using keys = new KeyReader(context.terminal);
  const desk = new ApprovalDesk({ client, context, keys });
  const serving = desk.serve().finally(abort);
  await followApprovals(client, signal, (event) => desk.hear(event)).finally(() => desk.close());
  await serving;
  return 0;
}

/** Runs until the signal aborts. Throws CommandFailure when the daemon ends or does not answer. */
async function followApprovals(
  client: DaemonClient,
  signal: AbortSignal,
  onEvent: (event: ApprovalEvent) => void,
): Promise<void> {
  const path = '/sallyport.v1.ApprovalService/WatchApprovals';
  try {
    await client.stream(async ({ socketPath, credential }) => {
      for await (const each of streamJson({ socketPath, path, credential, message: {}, signal })) {
        const { event = '', approval = {} } = each as WatchApprovalsJson;
        onEvent({ event, approval: approvalToJson(approval) });
      }
    });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function printEvent({ event, approval }: ApprovalEvent, { json, terminal }: CommandContext): void {
  const { task_id: id, agent, tool, title, risk, decided_by: by = '' } = approval;
  const words = [event, id, agent, risk, `${tool}: ${title}`, by].filter((word) => word !== '');
  terminal.print(json ? visibleJson({ event, ...approval }) : words.map(makeVisibleLine).join('  '));
}

/** Ctrl-C ends the watch, which is no failure. */
function openExit(): { readonly signal: AbortSignal; readonly abort: () => void } {
  const exit = new AbortController();
  const abort = (): void => exit.abort();
  process.once('SIGINT', abort);
  return { signal: exit.signal, abort };
}
