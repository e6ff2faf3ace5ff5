import { memo, useCallback, useMemo, useState } from 'react';
import type { AuditRecord } from '../daemon/messages.ts';
import { useKeys } from '../inbox/use-keys.ts';
import { readPayload, summaryOf } from '../live/call.ts';
import { useToday } from '../live/use-live.ts';
import { Empty, PageHead, Problem } from '../shell/parts.tsx';
import { go, linkTo } from '../shell/use-route.ts';
import { useIsNarrow, VirtualRows } from '../shell/virtual-rows.tsx';
import { formatShortTime } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';
import { RecordDetail } from './record-detail.tsx';
import { useRecords } from './use-records.ts';
import { VerifyLog } from './verify-log.tsx';

const kinds = ['intent', 'outcome', 'refusal', 'event'];
const rowHeight = 38;
const narrowRowHeight = 66;

/** The log itself, record by record. `index` opens one of them. */
export function AuditPage({ index }: { readonly index: string }) {
  const { records, loadOlder, trouble } = useRecords();
  const [text, setText] = useState('');
  const [kind, setKind] = useState('');
  const wanted = text.trim().toLowerCase();
  const matching = useMemo(
    () => records.filter((record) => matches(record, kind, wanted)).toReversed(),
    [records, kind, wanted],
  );
  useKeys((key) => {
    if (key !== 'Escape' || index === '') return false;
    go(linkTo('audit'));
    return true;
  });
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
            {kinds.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </div>
      </PageHead>
      <VerifyLog />
      {trouble && <Problem trouble={trouble} />}
      <div className={`split${index === '' ? '' : ' split-open'}`}>
        <div className="split-list">
          {matching.length === 0 && <NothingFits isEmpty={records.length === 0} words={wanted} />}
          {matching.length > 0 && <RecordList records={matching} openIndex={index} onNearEnd={loadOlder} />}
        </div>
        {index !== '' && (
          <RecordDetail key={index} index={index} listed={records.find((record) => record.index === index)} />
        )}
      </div>
    </>
  );
}

function NothingFits({ isEmpty, words }: { readonly isEmpty: boolean; readonly words: string }) {
  if (isEmpty) return <Empty title="The log is being read" />;
  return (
    <Empty title="No record fits the filter">
      <p>
        It looks at the records that are listed. The{' '}
        <a href={linkTo('calls', '', `kind:call,event ${words}`)}>search of the calls</a> looks at all of them.
      </p>
    </Empty>
  );
}

interface RecordListProps {
  /** Newest first. */
  readonly records: readonly AuditRecord[];
  readonly openIndex: string;
  readonly onNearEnd: (() => void) | undefined;
}

function RecordList({ records, openIndex, onNearEnd }: RecordListProps) {
  const isNarrow = useIsNarrow();
  const todayMs = useToday();
  const render = useCallback(
    (at: number) => {
      const record = records[at];
      return record && <RecordLine record={record} isOpen={record.index === openIndex} todayMs={todayMs} />;
    },
    [records, openIndex, todayMs],
  );
  return (
    <VirtualRows
      label="Records"
      count={records.length}
      rowHeight={isNarrow ? narrowRowHeight : rowHeight}
      keyOf={(at) => records[at]?.index ?? String(at)}
      render={render}
      {...(onNearEnd === undefined ? {} : { onNearEnd })}
    />
  );
}

interface RecordLineProps {
  readonly record: AuditRecord;
  readonly isOpen: boolean;
  readonly todayMs: number;
}

const RecordLine = memo(function RecordLine({ record, isOpen, todayMs }: RecordLineProps) {
  const { index, kind, result, timeMs } = record;
  const payload = readPayload(record);
  return (
    <a
      className="line line-record"
      href={isOpen ? linkTo('audit') : linkTo('audit', index)}
      aria-current={isOpen ? 'true' : undefined}
    >
      <span className="muted">{index}</span>
      <time className="muted">{formatShortTime(Number(timeMs), todayMs)}</time>
      <span className={`badge badge-${kind === 'intent' || kind === 'event' ? 'calm' : result}`}>
        {kind === 'outcome' ? result : kind}
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
  );
});

function matches(record: AuditRecord, kind: string, wanted: string): boolean {
  if (kind !== '' && record.kind !== kind) return false;
  if (wanted === '') return true;
  const { payloadJson, callId, sessionId, result, index } = record;
  return `${payloadJson}\n${callId}\n${sessionId}\n${result}\n${index}`.toLowerCase().includes(wanted);
}
