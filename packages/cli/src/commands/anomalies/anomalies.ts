import type {
  AcknowledgeAnomalyResponse,
  GetAnomalyResponse,
  InJson,
  ListAnomaliesResponse,
  ReportAnomaliesResponse,
} from '@sallyport/contract';
import type { CommandContext } from '../../command-context.ts';
import { choice, command, count, flag, parsed, text, withDefault, word } from '../../command-table.ts';
import { operatorCommand, runOperatorTool } from '../../client/run-tool.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { shortenIds } from '../../terminal/short-id.ts';
import { printFields, printTable, renderWrappedTable } from '../../terminal/table.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';
import { parseSince } from '../policy/policy-replay.ts';
import { openExit } from '../approvals/approvals-watch.ts';
import { describeDone, describeExtent, nameOf, renderReport, titleOf } from './render-anomalies.ts';
import type { ShownAnomaly } from './render-anomalies.ts';

const kinds = ['call_spike', 'repeated_failures', 'suspicious_combination', 'permission_escalation'];
const since = parsed('when', 'how far back: 30m, 2h or 7d ago, or a time such as 2026-03-01T14:00', (given) =>
  Date.parse(parseSince(given)),
);
const anomaly = { anomalyId: word('anomaly-id') };

/** What was out of the ordinary. */
export const anomalyCommands = [
  operatorCommand('list', {
    help: 'list what was out of the ordinary, newest first',
    options: {
      agent: text('name', 'only of this agent'),
      kind: choice('kind', kinds, 'only of this kind'),
      session: text('session-id', 'only of this session'),
      since,
      unseen: flag('only those that nobody has seen'),
      lines: withDefault(count('how many', 'n'), 50),
    },
    tool: 'anomalies.list',
    input: ({ session, since: sinceMs, lines, ...filters }) => ({
      ...filters,
      session_id: session,
      since_ms: sinceMs,
      limit: lines,
    }),
    print: printList,
  }),
  operatorCommand('show', {
    help: 'show one anomaly, the calls behind it and what was done',
    arguments: anomaly,
    tool: 'anomalies.show',
    print: ({ anomaly: shown }: InJson<GetAnomalyResponse>, context) => shown && printOne(shown, context),
  }),
  operatorCommand('ack', {
    help: 'say that you have seen an anomaly',
    arguments: anomaly,
    tool: 'anomalies.acknowledge',
    print: ({ anomaly: shown }: InJson<AcknowledgeAnomalyResponse>, { terminal }) =>
      terminal.print(`Seen by ${makeVisibleLine(shown?.seenBy ?? '')}.`),
  }),
  command('report', {
    help: 'report what was out of the ordinary, agent by agent, with the calls behind it',
    options: {
      since: { ...since, help: `${since.help} (default: 7d)` },
      format: withDefault(choice('format', ['markdown', 'json'], 'how to write it'), 'markdown'),
    },
    run: ({ since: sinceMs, format }, context) =>
      runOperatorTool<InJson<ReportAnomaliesResponse>>(
        'anomalies.report',
        { since_ms: sinceMs },
        { ...context, json: context.json || format === 'json' },
        (report) => context.terminal.print(...renderReport(report)),
      ),
  }),
  command('watch', {
    help: 'show what nobody has seen yet, and then what comes; Ctrl-C ends it',
    run: (_, context) => watchAnomalies(context),
  }),
];

function printList({ anomalies, more }: InJson<ListAnomaliesResponse>, { terminal }: CommandContext): void {
  if (anomalies.length === 0) return terminal.print('Nothing was out of the ordinary.');
  const ids = shortenIds(anomalies.map(({ id }) => id));
  const rows = anomalies.map((each) => [
    ids.get(each.id) ?? '',
    formatTime(Number(each.beganAtMs)),
    nameOf(each.agent),
    each.seenBy === '' ? 'no' : 'yes',
    `${titleOf(each)}. ${each.summary}`,
  ]);
  printTable(terminal, ['ANOMALY', 'BEGAN', 'AGENT', 'SEEN', 'WHAT'], rows, renderWrappedTable);
  if (more) terminal.print('', 'There are more: see -n and --since.');
}

function printOne(shown: ShownAnomaly, { terminal, commandName }: CommandContext): void {
  terminal.print(terminal.paint('bold', `${nameOf(shown.agent)}: ${titleOf(shown)}`));
  printFields(terminal, [
    ['what', shown.summary],
    ['began', formatTime(Number(shown.beganAtMs))],
    ['met by', describeExtent(shown)],
    ['done', describeDone(shown)],
    ['seen by', shown.seenBy === '' ? 'nobody yet' : `${shown.seenBy}, ${formatTime(Number(shown.seenAtMs))}`],
    ['session', shown.sessionId],
    ['anomaly', shown.id],
  ]);
  if (shown.calls.length === 0) return;
  const rows = shown.calls.map(({ callId, tool, result, endedAtMs }) => [
    callId,
    formatTime(Number(endedAtMs)).slice(11),
    result,
    tool,
  ]);
  terminal.print('');
  printTable(terminal, ['CALL', 'ENDED', 'RESULT', 'TOOL'], rows);
  terminal.print('', `${commandName} call show CALL shows all about one of them.`);
}

async function watchAnomalies(context: CommandContext): Promise<number> {
  const client = context.openOperatorClient();
  const { signal } = openExit();
  for await (const { event, anomaly: shown } of client.watch('AnomalyService/WatchAnomalies', {}, { signal })) {
    if (shown === undefined) continue;
    const words = [formatTime(Number(shown.beganAtMs)), event, nameOf(shown.agent), titleOf(shown), shown.summary];
    context.terminal.print(
      context.json ? visibleJson({ event, anomaly: shown }) : words.map(makeVisibleLine).join('  '),
    );
  }
  return 0;
}
