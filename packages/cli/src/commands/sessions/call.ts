import type { CancelCallResponse, InJson, ListCallsResponse } from '@sallyport/contract';
import type { CommandContext } from '../../command-context.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { runOperatorTool } from '../../client/run-tool.ts';
import { shortenIds } from '../../terminal/short-id.ts';
import { renderTable } from '../../terminal/table.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

export function listCalls(options: { readonly session?: string }, context: CommandContext): Promise<number> {
  const input = options.session === undefined ? {} : { session_id: options.session };
  return runOperatorTool('calls.list', input, context, ({ calls }: InJson<ListCallsResponse>) => {
    const { columns, paint, print } = context.terminal;
    if (calls.length === 0) {
      print(`No call is running. Past ones: ${context.commandName} audit tail`);
      return;
    }
    const ids = shortenIds(calls.map(({ callId }) => callId));
    const rows = calls.map(({ callId, tool, agent, state, startedAtMs }) =>
      [ids.get(callId) ?? '', tool, agent, state, formatTime(Number(startedAtMs))].map(makeVisibleLine),
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
    ({ tool, agent }: InJson<CancelCallResponse>) => {
      const { print } = context.terminal;
      print(`Cancelled ${makeVisibleLine(tool)} of ${makeVisibleLine(agent)}. The caller is told that you did.`);
    },
  );
}
