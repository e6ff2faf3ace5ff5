import { useCallback } from 'react';
import { daemon } from '../daemon/connect.ts';
import type { AbuseReport } from '../daemon/messages.ts';
import { useNowMs } from '../live/use-live.ts';
import { useLogTurn } from '../live/use-log-turn.ts';
import { Empty, Loading, PageHead, Problem } from '../shell/parts.tsx';
import { useLoaded } from '../shell/use-loaded.ts';
import { linkTo } from '../shell/use-route.ts';
import { formatShortTime } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';

const reportWords: Readonly<Record<string, string>> = {
  limits_ignored: 'goes on against its limits',
  quarantine_reported: 'was put into quarantine',
};

/** What was reported about agents that went on against their limits. */
export function AnomaliesPage() {
  const load = useCallback(async () => (await daemon.call('OperatorService/GetUsage', { hours: 24 })).reports, []);
  const { value, trouble, reload } = useLoaded(load, useLogTurn());
  return (
    <>
      <PageHead title="Anomalies" />
      {trouble && <Problem trouble={trouble} onRetry={reload} />}
      {value === undefined && trouble === undefined && <Loading what="the reports" />}
      {value?.length === 0 && (
        <Empty title="Nothing is out of the ordinary">
          <p>
            An agent that goes on against its limits, or was put into quarantine, is reported here for a day. Older
            reports are in the <a href={linkTo('audit')}>audit log</a>.
          </p>
          <p>
            <a href={linkTo('calls', '', 'status:denied since:24h')}>See what was denied in the last day</a>
          </p>
        </Empty>
      )}
      {value !== undefined && value.length > 0 && (
        <ul className="rows" aria-label="Reports">
          {value.map((report) => (
            <ReportLine key={report.index} report={report} />
          ))}
        </ul>
      )}
    </>
  );
}

function ReportLine({ report: { index, timeMs, event, agent, tool } }: { readonly report: AbuseReport }) {
  const nowMs = useNowMs();
  return (
    <li>
      <a className="line" href={linkTo('audit', index)}>
        <time className="muted">{formatShortTime(Number(timeMs), nowMs)}</time>
        <span className="line-main">
          <strong>
            <Visible text={agent} />
          </strong>{' '}
          {reportWords[event] ?? event}
          {tool !== '' && (
            <span className="muted block">
              last call:{' '}
              <code>
                <Visible text={tool} />
              </code>
            </span>
          )}
        </span>
      </a>
    </li>
  );
}
