import type { CommandContext } from '../../command-context.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { runOperatorTool } from '../../client/run-tool.ts';
import { shortenIds } from '../../terminal/short-id.ts';
import { renderTable } from '../../terminal/table.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

interface ListedCall {
  readonly call_id: string;
  readonly tool: string;
  readonly agent: string;
  readonly session_id: string;
  readonly state: string;
  readonly started_at: string;
}

export function listCalls(options: { readonly session?: string }, context: CommandContext): Promise<number> {
  const input = options.session === undefined ? {} : { session_id: options.session };
  return runOperatorTool('calls.list', input, context, ({ calls }: { readonly calls: readonly ListedCall[] }) => {
    const { columns, paint, print } = context.terminal;
    if (calls.length === 0) {
      print(`No call is running. Past ones: ${context.commandName} audit tail`);
      return;
    }
    const ids = shortenIds(calls.map(({ call_id: id }) => id));
    const rows = calls.map(({ call_id: id, tool, agent, state, started_at: startedAt }) =>
      [ids.get(id) ?? '', tool, agent, state, formatTime(Date.parse(startedAt))].map(makeVisibleLine),
    );
    const [header = '', ...body] = renderTable([['CALL', 'TOOL', 'AGENT', 'STATE', 'SINCE'], ...rows], columns);
    print(paint('dim', header), ...body);
  });
}

export function cancelCall(callId: string, context: CommandContext): Promise<number> {
  return runOperatorTool(
    'calls.cancel',
    { call_id: callId },
    context,
    ({ tool, agent }: { readonly tool: string; readonly agent: string }) => {
      const { print } = context.terminal;
      print(`Cancelled ${makeVisibleLine(tool)} of ${makeVisibleLine(agent)}. The caller is told that you did.`);
    },
  );
}
