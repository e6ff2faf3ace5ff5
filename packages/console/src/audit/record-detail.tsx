import { useCallback } from 'react';
import { daemon } from '../daemon/connect.ts';
import type { AuditRecord } from '../daemon/messages.ts';
import { readPayload, summaryOf } from '../live/call.ts';
import { Empty, Fact, Loading, Problem } from '../shell/parts.tsx';
import { useLoaded } from '../shell/use-loaded.ts';
import { linkTo } from '../shell/use-route.ts';
import { formatMoment } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';

/** Null: there is none. */
async function readRecord(index: string): Promise<AuditRecord | null> {
  if (!/^\d{1,15}$/.test(index)) return null;
  const { records } = await daemon.call('OperatorService/ReadAudit', { from: index, limit: 1 });
  return records.find((record) => record.index === index) ?? null;
}

/** One record as it stands in the log. A link to it resolves however old it is. */
export function RecordDetail({ index, listed }: { readonly index: string; readonly listed: AuditRecord | undefined }) {
  const load = useCallback(() => readRecord(index), [index]);
  const { value, trouble, reload } = useLoaded(load);
  const record = value ?? listed;
  return (
    <section className="detail" aria-label="Record">
      <a className="close" href={linkTo('audit')}>
        ← All records
      </a>
      {record !== undefined && <Told record={record} />}
      {record === undefined && trouble && <Problem trouble={trouble} onRetry={reload} />}
      {record === undefined && value === undefined && trouble === undefined && <Loading what="the record" />}
      {record === undefined && value === null && (
        <Empty title="There is no such record">
          <p>
            The log has no record <Visible text={index} />.
          </p>
        </Empty>
      )}
    </section>
  );
}

function Told({ record }: { readonly record: AuditRecord }) {
  const payload = readPayload(record);
  const { index, kind, result, timeMs, callId, sessionId } = record;
  return (
    <>
      <h2>
        Record {index}: {kind}
        {result !== 'none' && result !== '' && `, ${result}`}
      </h2>
      <p>
        <Visible text={summaryOf(record, payload)} />
      </p>
      <dl className="facts">
        <Fact name="written">{formatMoment(Number(timeMs))}</Fact>
        {callId !== '' && (
          <Fact name="call">
            <a href={linkTo('calls', callId)}>{callId}</a>
          </Fact>
        )}
        {sessionId !== '' && (
          <Fact name="session">
            <a href={linkTo('calls', '', `session:${sessionId}`)}>{sessionId}</a>
          </Fact>
        )}
      </dl>
      <pre className="json" tabIndex={0} aria-label={`Record ${index} in full`}>
        <Visible text={describe(record, payload)} />
      </pre>
    </>
  );
}

function describe({ payloadJson, ...leaf }: AuditRecord, payload: object): string {
  return JSON.stringify({ ...leaf, payload: payloadJson === '' ? '(erased)' : payload }, null, 2);
}
