import { spellCount } from '@sallyport/contract';
import { formatTime } from '../../terminal/format-time.ts';
import type { Terminal, Tone } from '../../terminal/terminal.ts';
import { padText, truncateText, wrapWords } from '../../terminal/text-width.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';
import type { PlacedCall } from './run-calls.ts';

export interface ShownCall extends PlacedCall {
  /** Whether what it changed can be undone, in words. Absent: it changed nothing, or nobody knows. */
  readonly undo?: string;
}

const mostNamed = 3;
const narrow = 80;

/** One line a call, and what there is to know of it below, indented by its place in the run. */
export function renderRun(
  calls: readonly ShownCall[],
  id: string,
  { columns, paint }: Pick<Terminal, 'columns' | 'paint'>,
): string[] {
  const width = Math.min(columns, narrow);
  const fit = (text: string): string => truncateText(text, width);
  const agents = [...new Set(calls.map(({ agent }) => makeVisibleLine(agent)).filter(Boolean))];
  const traces = [...new Set(calls.map(({ traceId }) => traceId).filter(Boolean))];
  const sessions = [...new Set(calls.map(({ sessionId }) => sessionId).filter(Boolean))];
  const [first] = calls;
  const heading = `${spellCount(calls.length, 'call')} by ${agents.join(', ') || 'nobody known'}`;
  return [
    paint('bold', fit(`${heading}, from ${formatTime(first?.startedAtMs ?? 0)}, ${spellSpan(calls)}`)),
    ...(traces.length === 1
      ? [fit(`trace    ${traces.join('')}`)]
      : traces.length > 1
        ? [`${traces.length} traces`]
        : []),
    ...(sessions.length === 1 ? [fit(`session  ${sessions.join('')}`)] : []),
    ...calls.flatMap((call) => ['', ...renderCall(call, id, width, paint)]),
  ];
}

function renderCall(call: ShownCall, id: string, width: number, paint: Terminal['paint']): string[] {
  const indent = '  '.repeat(call.depth);
  const time = formatTime(call.startedAtMs).slice(-8);
  const name = call.step === '' ? call.tool : `${call.step}: ${call.tool}`;
  const duration = call.durationMs === undefined ? '' : spellMs(call.durationMs);
  const status = call.code === '' ? call.status : `${call.status} ${call.code}`;
  const end = `${padText(status, 12)} ${duration}`.trimEnd();
  const room = Math.max(width - indent.length - time.length - end.length - 4, 12);
  const mark = call.callId === id ? '*' : ' ';
  const title = padText(truncateText(makeVisibleLine(name) || '(erased)', room), Math.min(room, 34));
  const head = truncateText(`${indent}${time} ${mark}${title} ${end}`, width);
  const below = `${indent}          `;
  const details = detailsOf(call).flatMap((line) =>
    wrapWords(makeVisibleLine(line), Math.max(width - below.length, 20)).map((part) =>
      truncateText(`${below}${part}`, width),
    ),
  );
  return [paintStatus(head, call.status, paint), ...details];
}

function detailsOf(call: ShownCall): string[] {
  const { approval, changedPaths, network, undo, isErased } = call;
  return [
    `call ${call.callId}`,
    ...(isErased ? ['what was recorded of it was erased'] : []),
    ...(approval === undefined
      ? []
      : [`${approval.how.replaceAll('-', ' ')} by ${approval.by} at ${formatTime(approval.atMs).slice(-8)}`]),
    ...(changedPaths.length === 0 ? [] : [`changed ${nameSome(changedPaths)}${undo === undefined ? '' : `; ${undo}`}`]),
    ...(network.length === 0
      ? []
      : [
          `network ${nameSome(network.map(({ target, outcome, times }) => `${target} ${outcome}${times > 1 ? ` (${times})` : ''}`))}`,
        ]),
  ];
}

function nameSome(names: readonly string[]): string {
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : '';
  return `${names.slice(0, mostNamed).join(', ')}${more}`;
}

function paintStatus(line: string, status: string, paint: Terminal['paint']): string {
  const tones: Readonly<Record<string, Tone>> = { denied: 'yellow', error: 'red', unknown: 'red' };
  const tone = tones[status];
  return tone === undefined ? line : paint(tone, line);
}

function spellSpan(calls: readonly ShownCall[]): string {
  const from = Math.min(...calls.map(({ startedAtMs }) => startedAtMs));
  const to = Math.max(...calls.map(({ startedAtMs, durationMs = 0 }) => startedAtMs + durationMs));
  return spellMs(to - from);
}

function spellMs(ms: number): string {
  return ms < 10_000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 1000)} s`;
}
