import { spellCount } from '@sallyport/contract';
import type { Anomaly, InJson, ReportAnomaliesResponse } from '@sallyport/contract';
import { formatDuration, formatTime } from '../../terminal/format-time.ts';
import { truncateText, wrapWords } from '../../terminal/text-width.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

export type ShownAnomaly = InJson<Anomaly>;

/** Text in Markdown is not bound to a terminal; this also reads well in one. */
const columns = 80;

const responses: Readonly<Record<string, string>> = {
  quarantine: 'put its session into quarantine',
  raise_mode: 'raised the mode to ALERT',
};

/** `Call spike`, `Suspicious combination (read-write-delete)`. */
export function titleOf({ kind, detail }: ShownAnomaly): string {
  const words = kind.replaceAll('_', ' ');
  const which = detail === '' ? '' : ` (${detail.replaceAll('_', ' ')})`;
  return makeVisibleLine(`${words.charAt(0).toUpperCase()}${words.slice(1)}${which}`);
}

export function nameOf(agent: string): string {
  return agent === '' ? '(no valid credential)' : makeVisibleLine(agent);
}

/** What the gate did about it. */
export function describeDone({ senior, done }: Pick<ShownAnomaly, 'senior' | 'done'>): string {
  const told = `alerted ${senior === '' ? 'the directors' : makeVisibleLine(senior)}`;
  return [told, ...done.map((each) => responses[each] ?? makeVisibleLine(each))].join(', ');
}

/** How many calls met the condition, over how long. */
export function describeExtent({ beganAtMs, lastAtMs, sightings }: ShownAnomaly): string {
  const lastedMs = Number(lastAtMs) - Number(beganAtMs);
  const calls = spellCount(sightings, 'call');
  return lastedMs < 1000 ? calls : `${calls} over ${formatDuration(lastedMs)}`;
}

/** The report in Markdown, in lines that fit into 80 columns. */
export function renderReport({ fromMs, toMs, agents, cut }: InJson<ReportAnomaliesResponse>): string[] {
  const count = agents.reduce((sum, { anomalies }) => sum + anomalies.length, 0);
  const span = `${formatTime(Number(fromMs))} to ${formatTime(Number(toMs))}`;
  const total =
    count === 0
      ? 'nothing was out of the ordinary.'
      : `${spellCount(count, 'anomaly', 'anomalies')} of ${spellCount(agents.length, 'agent')}.`;
  return [
    '# Anomalies',
    '',
    ...wrapWords(`${span}: ${total}`, columns),
    ...(cut ? ['', ...wrapWords('There were more. The oldest are left out: ask for a shorter time.', columns)] : []),
    ...agents.flatMap(({ agent, anomalies }) => [
      '',
      `## ${escapeMarkdown(nameOf(agent))}`,
      ...anomalies.flatMap(renderOne),
    ]),
  ];
}

function renderOne(anomaly: ShownAnomaly): string[] {
  const { id, sessionId, beganAtMs, summary, calls, seenBy, seenAtMs } = anomaly;
  const seen = seenBy === '' ? 'by nobody yet' : `by ${makeVisibleLine(seenBy)}, ${formatTime(Number(seenAtMs))}`;
  return [
    '',
    `### ${titleOf(anomaly)}, ${formatTime(Number(beganAtMs))}`,
    '',
    ...wrapWords(escapeMarkdown(makeVisibleLine(summary)), columns),
    '',
    ...renderItem(`Met by: ${describeExtent(anomaly)}`),
    ...renderItem(`Done: ${escapeMarkdown(describeDone(anomaly))}`),
    ...renderItem(`Seen: ${escapeMarkdown(seen)}`),
    ...renderItem(`Anomaly: ${code(id)}`),
    ...(sessionId === '' ? [] : renderItem(`Session: ${code(sessionId)}`)),
    ...(calls.length === 0 ? [] : ['- Calls:']),
    ...calls.map(renderCall),
  ];
}

/** The whole name of the tool is in the anomaly itself. */
function renderCall({ callId, tool, result }: ShownAnomaly['calls'][number]): string {
  const [start, end] = [`  - ${code(callId)} `, ` ${escapeMarkdown(makeVisibleLine(result))}`];
  const room = columns - start.length - end.length - 2;
  return `${start}${code(truncateText(makeVisibleLine(tool), Math.max(room, 8)))}${end}`;
}

function renderItem(text: string): string[] {
  return wrapWords(text, columns - 2).map((line, at) => `${at === 0 ? '- ' : '  '}${line}`);
}

/** Nothing in it can end the span of code. */
function code(text: string): string {
  return `\`${makeVisibleLine(text).replaceAll('`', '´')}\``;
}

function escapeMarkdown(text: string): string {
  return text.replaceAll(/[\\`*[\]<>#|]/g, (mark) => `\\${mark}`);
}
