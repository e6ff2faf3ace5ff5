import { useEffect, useState } from 'react';
import { daemon } from '../daemon/connect.ts';
import type { AbuseReport, Usage } from '../daemon/messages.ts';
import { useGate, useNowMs } from '../live/use-live.ts';
import { Empty, Loading, PageHead, Problem } from '../shell/parts.tsx';
import { useLoaded } from '../shell/use-loaded.ts';
import { linkTo } from '../shell/use-route.ts';
import { formatClock, formatCount, formatTime } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';
import { addUp, describeTotals, endings, endingWords, totalsOf } from './tally.ts';
import { UseBars } from './use-bars.tsx';

const spans = [
  { part: '', title: 'Last hour', hours: 1 },
  { part: 'day', title: 'Last day', hours: 24 },
] as const;

const followEveryMs = 3000;

const loadHour = (): Promise<Usage> => loadUsage(1);
const loadDay = (): Promise<Usage> => loadUsage(24);

const loadUsage = (hours: number): Promise<Usage> => daemon.call('OperatorService/GetUsage', { hours });

/** How much each tool was used, and how that went. */
export function UsagePage({ part }: { readonly part: string }) {
  const span = spans.find((each) => each.part === part) ?? spans[0];
  return (
    <>
      <PageHead title="Usage">
        <nav className="tabs" aria-label="Time">
          {spans.map(({ part: each, title }) => (
            <a key={each} href={linkTo('usage', each)} aria-current={each === span.part ? 'page' : undefined}>
              {title}
            </a>
          ))}
        </nav>
      </PageHead>
      <UsageOf key={span.part} load={span.hours === 1 ? loadHour : loadDay} title={span.title.toLowerCase()} />
    </>
  );
}

function UsageOf({ load, title }: { readonly load: () => Promise<Usage>; readonly title: string }) {
  const { value, trouble, reload } = useLoaded(load, useLogTurn());
  if (value === undefined) {
    return trouble === undefined ? <Loading what="the usage" /> : <Problem trouble={trouble} onRetry={reload} />;
  }
  return (
    <>
      {trouble && <Problem trouble={trouble} onRetry={reload} />}
      {Number(value.countedFromMs) > Number(value.fromMs) && (
        <p className="muted">
          There are more calls than can be counted: these are from {formatClock(Number(value.countedFromMs))} on.
        </p>
      )}
      {value.tools.length === 0 ? (
        <Empty title={`No calls in the ${title}`}>
          <p>Each tool that is called appears here, with how often it was allowed, denied, asked about, or failed.</p>
        </Empty>
      ) : (
        <ToolBars usage={value} title={title} />
      )}
      {value.reports.length > 0 && <Reports reports={value.reports} />}
    </>
  );
}

function ToolBars({ usage, title }: { readonly usage: Usage; readonly title: string }) {
  const all = addUp(usage);
  const totals = totalsOf(all);
  return (
    <>
      <section className="usage-all" aria-label="All calls">
        <p>
          <strong>{formatCount(totals.calls, 'call')}</strong> in the {title}: {describeTotals(totals)}.
        </p>
        <UseBars use={all} usage={usage} label="All calls" />
        <p className="usage-axis muted" aria-hidden="true">
          <span>{formatClock(Number(usage.fromMs))}</span>
          <span>now</span>
        </p>
        <ul className="legend" aria-hidden="true">
          {endings.map((ending) => (
            <li key={ending}>
              <span className={`swatch swatch-${ending}`} /> {endingWords[ending]}
            </li>
          ))}
        </ul>
      </section>
      <ul className="rows" aria-label="By tool">
        {usage.tools.map((use) => {
          const ofTool = totalsOf(use);
          return (
            <li key={use.tool} className="line line-use">
              <code className="line-tool">
                <Visible text={use.tool} />
              </code>
              <UseBars use={use} usage={usage} label={use.tool} />
              <span className="line-main">
                {formatCount(ofTool.calls, 'call')}
                <span className="muted block">{describeTotals(ofTool)}</span>
              </span>
            </li>
          );
        })}
      </ul>
    </>
  );
}

const reportWords: Readonly<Record<string, string>> = {
  limits_ignored: 'goes on against its limits',
  quarantine_reported: 'was put into quarantine',
};

function Reports({ reports }: { readonly reports: readonly AbuseReport[] }) {
  const nowMs = useNowMs();
  return (
    <section aria-label="Reports" className="reports">
      <h2>Reports about agents</h2>
      <ul className="rows">
        {reports.map(({ index, timeMs, event, agent, tool }) => (
          <li key={index}>
            <a className="line" href={linkTo('audit', index)}>
              <time className="muted">{formatTime(Number(timeMs), nowMs)}</time>
              <span className="line-main">
                <strong>
                  <Visible text={agent} />
                </strong>{' '}
                {reportWords[event] ?? event}
                {tool !== '' && (
                  <span className="muted block">
                    last call: <code>{tool}</code>
                  </span>
                )}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Counts up when the log has grown, every few seconds at most: what is on the screen follows without hurry. */
function useLogTurn(): number {
  const { view } = useGate().log;
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const readLast = (): string | undefined => view.get().records.at(-1)?.index;
    let seen = readLast();
    const timer = setInterval(() => {
      const last = readLast();
      if (last === seen) return;
      seen = last;
      setTurn((count) => count + 1);
    }, followEveryMs);
    return () => clearInterval(timer);
  }, [view]);
  return turn;
}
