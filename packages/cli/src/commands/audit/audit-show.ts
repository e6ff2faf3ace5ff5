import type { CommandContext } from '../../command-context.ts';
import type { DaemonClient } from '../../client/daemon-client.ts';
import { usageFailure } from '../../client/failure.ts';
import { findCall } from '../../client/find-call.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { readPayload } from './read-payload.ts';
import type { RecordPayload } from './read-payload.ts';
import { renderFields } from '../../terminal/table.ts';
import { makeVisible, makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';
import type { AuditRecord, InJson } from '@sallyport/contract';

/** All that is on record about one call, or one record by its index. */
export async function showAudit(which: string, context: CommandContext): Promise<number> {
  const { terminal, json } = context;
  const client = context.openOperatorClient();
  const records = /^\d{1,15}$/.test(which) ? await readOne(Number(which), client) : await readCall(which, client);
  if (records.length === 0) throw usageFailure(`There is no record of ${which}.`, 'See `audit tail`.');
  if (json) terminal.print(visibleJson({ records }));
  else for (const record of records) terminal.print(...renderRecord(record, context), '');
  return 0;
}

async function readOne(index: number, client: DaemonClient): Promise<readonly InJson<AuditRecord>[]> {
  return (await client.call('OperatorService/ReadAudit', { from: String(index), limit: 1 })).records;
}

async function readCall(given: string, client: DaemonClient): Promise<readonly InJson<AuditRecord>[]> {
  const callId = await findCall(given, client);
  return callId === undefined ? [] : (await client.call('OperatorService/ReadAudit', { callId })).records;
}

const shownApart = ['refusal', 'error', 'fault', 'summary', 'tool', 'agent', 'event'];

function renderRecord(record: InJson<AuditRecord>, { terminal }: CommandContext): string[] {
  const { columns, paint } = terminal;
  const payload = readPayload(record);
  const fields: [string, string][] = [
    ['time', formatTime(Number(record.timeMs))],
    ['tool', payload.tool ?? ''],
    ['agent', payload.agent ?? ''],
    ...renderEnding(payload),
    ...Object.entries(payload)
      .filter(([name]) => !shownApart.includes(name))
      .map(([name, value]): [string, string] => [
        name.replaceAll('_', ' '),
        typeof value === 'string' ? value : JSON.stringify(value),
      ]),
    ['call', record.callId],
    ['session', record.sessionId],
  ];
  const heading = [record.kind, record.result === 'none' ? '' : record.result].filter(Boolean).join(', ');
  return [
    `${paint('bold', `${Number(record.index)}`)}  ${makeVisibleLine(record.payloadJson ? heading : `${heading}, erased`)}`,
    ...renderFields(
      fields.map(([label, value]) => [label, makeVisible(value)]),
      columns,
    ),
  ];
}

/** How it ended, as the caller was told; for a denial also what to do about it. */
function renderEnding({ refusal, error, fault, summary, event }: RecordPayload): [string, string][] {
  return [
    ['event', event ?? ''],
    ['summary', summary ?? ''],
    ['code', refusal?.code ?? error?.code ?? ''],
    ['rule', refusal?.rule_id ?? ''],
    ['why', refusal?.message ?? error?.message ?? ''],
    ['remedy', refusal?.remedy ?? ''],
    ['fault in', fault?.stage ?? ''],
  ];
}
