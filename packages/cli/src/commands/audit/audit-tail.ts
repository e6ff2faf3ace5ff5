import type { CommandContext } from '../../command-context.ts';
import type { DaemonClient } from '../../client/daemon-client.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { readPayload } from './read-payload.ts';
import type { RecordPayload } from './read-payload.ts';
import type { Terminal, Tone } from '../../terminal/terminal.ts';
import { padText, textWidth, truncateText } from '../../terminal/text-width.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';
import type { AuditRecord, InJson } from '@sallyport/contract';

export interface AuditTailOptions {
  readonly lines: number;
  readonly follow?: boolean;
}

const mostPerRead = 1000;
const waitMs = 25_000;

export async function tailAudit({ lines, follow = false }: AuditTailOptions, context: CommandContext): Promise<number> {
  const { terminal } = context;
  const client = context.openOperatorClient();
  const { records, logSize } = await readLast(client, lines);
  if (context.json && !follow) {
    terminal.print(visibleJson({ records, logSize: String(logSize) }));
    return 0;
  }
  const show = (record: InJson<AuditRecord>): void =>
    terminal.print(context.json ? visibleJson(record) : renderRecord(record, terminal));
  records.forEach(show);
  if (!follow) return 0;
  for (let next = logSize; ;) {
    const request = { from: String(next), limit: mostPerRead, waitMs };
    const { records: fresh } = await client.call('OperatorService/ReadAudit', request);
    fresh.forEach(show);
    next += fresh.length;
  }
}

/** The last `count` records that the log had when it was asked, read in as many portions as that takes. */
async function readLast(
  client: DaemonClient,
  count: number,
): Promise<{ records: InJson<AuditRecord>[]; logSize: number }> {
  const logSize = Number((await client.call('OperatorService/GetStatus', {})).logSize);
  const records: InJson<AuditRecord>[] = [];
  for (let next = Math.max(0, logSize - count); next < logSize;) {
    const limit = Math.min(mostPerRead, logSize - next);
    const { records: portion } = await client.call('OperatorService/ReadAudit', { from: String(next), limit });
    if (portion.length === 0) break;
    records.push(...portion);
    next += portion.length;
  }
  return { records, logSize };
}

const widths = { word: 7, tool: 16, agent: 8 };
const gap = '  ';

/** One line: when, how it went, which tool, whose call, why or what, how long. */
export function renderRecord(
  record: InJson<AuditRecord>,
  terminal: Pick<Terminal, 'columns' | 'paint'>,
  nowMs = Date.now(),
): string {
  const payload = readPayload(record);
  const { word, tone } = markOf(record);
  const time = shortenTime(formatTime(Number(record.timeMs)), formatTime(nowMs), terminal);
  const who = [
    padText(makeVisibleLine(payload.tool ?? '-'), widths.tool),
    padText(makeVisibleLine(payload.agent ?? '-'), widths.agent),
  ].join(gap);
  const duration = payload.duration_ms === undefined ? '' : `${gap}${payload.duration_ms} ms`;
  const used = textWidth([time, padText('', widths.word), who, ''].join(gap)) + duration.length;
  const what = [explain(record, payload), explainStep(payload)].filter((text) => text !== '').join(' ');
  const said = truncateText(makeVisibleLine(what), Math.max(12, terminal.columns - used));
  const start = [terminal.paint('dim', time), terminal.paint(tone, padText(word, widths.word)), who].join(gap);
  return `${start}${gap}${said}${duration}`.trimEnd();
}

/** A terminal is narrow: what happened today shows its time, older things their date and minute. */
function shortenTime(time: string, now: string, { columns }: Pick<Terminal, 'columns'>): string {
  if (columns === Infinity) return time;
  return time.slice(0, 10) === now.slice(0, 10) ? time.slice(11) : time.slice(5, 16);
}

function markOf({ kind, result }: InJson<AuditRecord>): { readonly word: string; readonly tone: Tone } {
  if (kind === 'intent') return { word: 'begins', tone: 'dim' };
  if (kind === 'event') return { word: 'event', tone: 'dim' };
  switch (result) {
    case 'ok':
      return { word: 'ok', tone: 'green' };
    case 'denied':
    case 'pending':
      return { word: result, tone: 'yellow' };
    default:
      return { word: result, tone: 'red' };
  }
}

function explain(record: InJson<AuditRecord>, payload: RecordPayload): string {
  const { refusal, error, fault, summary, event } = payload;
  if (!record.payloadJson) return '(erased)';
  if (refusal !== undefined) return [refusal.code, refusal.rule_id].filter(Boolean).join(' ');
  if (error !== undefined) return [error.code, error.message].filter(Boolean).join(': ');
  if (fault !== undefined) return `fault in ${fault.stage ?? 'the gate'}`;
  return summary ?? event ?? '';
}

/** Its parent by the end of its id, which differs more than the beginning; `--json` has all of it. */
function explainStep({ step, parent_call_id: parent }: RecordPayload): string {
  return step === undefined || parent === undefined ? '' : `[step ${step} of …${parent.slice(-12)}]`;
}
