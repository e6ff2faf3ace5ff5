import { useEffect, useMemo, useState } from 'react';
import { daemon } from '../daemon/connect.ts';
import type { AuditRecord } from '../daemon/messages.ts';
import { readPayload, summaryOf } from '../live/call.ts';
import { useGate, useNowMs, useValue } from '../live/use-live.ts';
import { Empty, PageHead, Problem, troubleOf } from '../shell/parts.tsx';
import type { Trouble } from '../shell/parts.tsx';
import { linkTo } from '../shell/use-route.ts';
import { formatTime } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';
import { VerifyLog } from './verify-log.tsx';

const portion = 500;
const mostShown = 300;

/** The log itself, record by record. `index` opens one of them. */
export function AuditPage({ index }: { readonly index: string }) {
  const { records: newest } = useValue(useGate().log.view);
  const [older, setOlder] = useState<readonly AuditRecord[]>([]);
  const [text, setText] = useState('');
  const [kind, setKind] = useState('');
  const [trouble, setTrouble] = useState<Trouble>();
  const records = useMemo(() => [...older, ...newest.filter((each) => !older.includes(each))], [older, newest]);
  const first = Number(records[0]?.index ?? 0);
  const wanted = text.trim().toLowerCase();
  const matching = useMemo(
    () => records.filter((record) => matches(record, kind, wanted)).toReversed(),
    [records, kind, wanted],
  );

  const readOlder = async (from: number): Promise<void> => {
    setTrouble(undefined);
    try {
      const request = { from: String(from), limit: Math.min(1000, first - from) };
      const read = await daemon.call('OperatorService/ReadAudit', request);
      setOlder((known) => [...read.records, ...known]);
    } catch (error) {
      setTrouble(troubleOf(error));
    }
  };

  // A link may point to a record that is older than what the page has.
  const missing = index !== '' && records.length > 0 && Number(index) < first;
  useEffect(() => {
    if (missing && first - Number(index) <= 1000) void readOlder(Number(index));
    // Only the wish matters here, not each record that arrives.
  }, [missing, index]);

  return (
    <>
      <PageHead title="Audit log">
        <div className="filters" role="search">
          <input
            type="search"
            aria-label="Filter the records"
            placeholder="Filter: tool, agent, code, id…"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <select aria-label="Kind of record" value={kind} onChange={(event) => setKind(event.target.value)}>
            <option value="">every kind</option>
            {['intent', 'outcome', 'refusal', 'event'].map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </div>
      </PageHead>
      <VerifyLog />
      {trouble && <Problem trouble={trouble} />}
      {matching.length === 0 ? (
        <Empty title={records.length === 0 ? 'The log is being read' : 'No record fits the filter'} />
      ) : (
        <ul className="rows" aria-label="Records">
          {matching.slice(0, mostShown).map((record) => (
            <RecordLine key={record.index} record={record} isOpen={record.index === index} />
          ))}
        </ul>
      )}
      {matching.length > mostShown && <p className="muted">The newest {mostShown} that fit are shown.</p>}
      {first > 0 && (
        <p>
          <button type="button" onClick={() => void readOlder(Math.max(0, first - portion))}>
            Load older records
          </button>
        </p>
      )}
    </>
  );
}

function RecordLine({ record, isOpen }: { readonly record: AuditRecord; readonly isOpen: boolean }) {
  const nowMs = useNowMs();
  const payload = readPayload(record);
  return (
    <li>
      <a
        className="line line-record"
        href={isOpen ? linkTo('audit') : linkTo('audit', record.index)}
        aria-expanded={isOpen}
      >
        <span className="muted">{record.index}</span>
        <time className="muted">{formatTime(Number(record.timeMs), nowMs)}</time>
        <span className={`badge badge-${badgeOf(record)}`}>
          {record.kind === 'outcome' ? record.result : record.kind}
        </span>
        <code className="line-tool">
          <Visible text={payload.tool ?? ''} />
        </code>
        <span className="line-agent">
          <Visible text={payload.agent ?? ''} />
        </span>
        <span className="line-summary">
          <Visible text={summaryOf(record, payload)} />
        </span>
      </a>
      {isOpen && (
        <div className="record-detail">
          <pre className="json" tabIndex={0}>
            <Visible text={describe(record, payload)} />
          </pre>
          {record.callId !== '' && <a href={linkTo('calls', record.callId)}>Open the call</a>}
        </div>
      )}
    </li>
  );
}

function describe({ payloadJson, ...leaf }: AuditRecord, payload: object): string {
  return JSON.stringify({ ...leaf, payload: payloadJson === '' ? '(erased)' : payload }, null, 2);
}

function badgeOf({ kind, result }: AuditRecord): string {
  if (kind === 'intent' || kind === 'event') return 'calm';
  return result;
}

function matches(record: AuditRecord, kind: string, wanted: string): boolean {
  if (kind !== '' && record.kind !== kind) return false;
  if (wanted === '') return true;
  const { payloadJson, callId, sessionId, result, index } = record;
  return `${payloadJson}\n${callId}\n${sessionId}\n${result}\n${index}`.toLowerCase().includes(wanted);
}
