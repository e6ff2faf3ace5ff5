import type { CancelCallResponse, InJson, ListCallsResponse } from '@sallyport/contract';
import { command, text, word } from '../../command-table.ts';
import { operatorCommand } from '../../client/run-tool.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { shortenIds } from '../../terminal/short-id.ts';
import { printTable } from '../../terminal/table.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

export const callCommands = [
  operatorCommand('list', {
    help: 'list the calls that run or wait',
    options: { session: text('session-id', 'only calls of this session') },
    tool: 'calls.list',
    input: ({ session }) => ({ session_id: session }),
    print: ({ calls }: InJson<ListCallsResponse>, { terminal, commandName }) => {
      if (calls.length === 0) return terminal.print(`No call is running. Past ones: ${commandName} audit tail`);
      const ids = shortenIds(calls.map(({ callId }) => callId));
      const rows = calls.map(({ callId, tool, agent, state, startedAtMs }) => [
        ids.get(callId) ?? '',
        ...[tool, agent, state],
        formatTime(Number(startedAtMs)),
      ]);
      printTable(terminal, ['CALL', 'TOOL', 'AGENT', 'STATE', 'SINCE'], rows);
    },
  }),
  command('show', {
    help: 'show everything that is recorded about one call',
    arguments: { callId: word('call-id') },
    run: async ({ callId }, context) => (await import('../audit/audit-show.ts')).showAudit(callId, context),
  }),
  operatorCommand('cancel', {
    help: 'end a call; its caller is told who ended it',
    arguments: { callId: word('call-id') },
    tool: 'calls.cancel',
    print: ({ tool, agent }: InJson<CancelCallResponse>, { terminal }) =>
      terminal.print(
        `Cancelled ${makeVisibleLine(tool)} of ${makeVisibleLine(agent)}. The caller is told that you did.`,
      ),
  }),
];
