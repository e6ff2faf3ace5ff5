import type { ReactNode } from 'react';
import { indexedPart, isBeingIndexed } from '../daemon/indexed-part.ts';
import type { Activity, ActivityReport } from '../daemon/messages.ts';
import { BudgetGauges } from '../sessions/budget-gauges.tsx';
import { useSessions } from '../sessions/use-sessions.ts';
import { Empty, Loading, PageHead, Problem } from '../shell/parts.tsx';
import { go, linkTo } from '../shell/use-route.ts';
import { formatClock, formatCount, formatDuration, formatMoment } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';
import { Plot } from './plot.tsx';
import { RuleHours } from './rule-hours.tsx';
import {
  addUp,
  describeTotals,
  endingColours,
  endings,
  endingWords,
  filterOfSlot,
  timesOf,
  totalsOf,
} from './series.ts';
import { useActivity } from './use-activity.ts';

const spans = [
  { part: 'hour', title: 'Last hour', hours: 1 },
  { part: '', title: 'Last day', hours: 24 },
  { part: 'week', title: 'Last week', hours: 168 },
] as const;

/** How much agents did, how it went and how long it took. Every plot leads to its calls. */
export function ActivityPage({ part }: { readonly part: string }) {
  const span = spans.find((each) => each.part === part) ?? spans[1];
  return (
    <>
      <PageHead title="Activity">
        <nav className="tabs" aria-label="Time">
          {spans.map(({ part: each, title }) => (
            <a key={each} href={linkTo('activity', each)} aria-current={each === span.part ? 'page' : undefined}>
              {title}
            </a>
          ))}
        </nav>
      </PageHead>
      <ActivityOf key={span.part} hours={span.hours} title={span.title.toLowerCase()} />
    </>
  );
}

function ActivityOf({ hours, title }: { readonly hours: number; readonly title: string }) {
  const { value, trouble, reload } = useActivity(hours);
  if (value === undefined) {
    return trouble === undefined ? <Loading what="the activity" /> : <Problem trouble={trouble} onRetry={reload} />;
  }
  const isBuilding = isBeingIndexed(indexedPart(value));
  return (
    <>
      {trouble && <Problem trouble={trouble} onRetry={reload} />}
      {isBuilding && (
        <p className="muted">
          {Number(value.indexedSize).toLocaleString('en')} of {formatCount(Number(value.logSize), 'record')} are counted
          so far.
        </p>
      )}
      {value.agents.length === 0 ? (
        <Empty title={`No calls of agents in the ${title}`}>
          <p>Each call of an agent is counted here, with how it went and how long it took.</p>
          <p>
            <a href={linkTo('activity', 'week')}>Look at the last week</a>, or{' '}
            <a href={linkTo('sessions', 'new')}>let an agent in</a>.
          </p>
        </Empty>
      ) : (
        <Plots report={value} title={title} />
      )}
    </>
  );
}

function Plots({ report, title }: { readonly report: ActivityReport; readonly title: string }) {
  const { agents, tools, slots, medianMs, p95Ms } = report;
  const all = addUp(agents, slots);
  const totals = totalsOf(all);
  const times = timesOf(report);
  const openSlot = (slot: number): void => go(linkTo('calls', '', filterOfSlot(report, slot)));
  const share = all.asked.map((asked, slot) => {
    const calls = endings.reduce((sum, ending) => sum + (all[ending][slot] ?? 0), 0);
    return calls === 0 ? null : (asked / calls) * 100;
  });
  const sessions = useSessions();
  return (
    <div className="plots">
      <Panel title={`${formatCount(totals.calls, 'call')} in the ${title}`} note={describeTotals(totals)} isWide>
        <Plot
          label="Calls of agents"
          times={times}
          series={endings.map((ending) => ({
            name: endingWords[ending],
            colour: endingColours[ending],
            values: all[ending],
          }))}
          kind="bars"
          height={220}
          formatValue={(value) => Math.round(value).toLocaleString('en')}
          onPick={openSlot}
        />
        <SlotTable report={report} all={all} />
      </Panel>
      <Panel title="How long calls took" note="half of them, and 95 of 100">
        <Plot
          label="Duration of calls"
          times={times}
          series={[
            { name: 'half', colour: '--plot-ok', values: medianMs.map(orNothing) },
            { name: '95 of 100', colour: '--plot-asked', values: p95Ms.map(orNothing) },
          ]}
          kind="lines"
          height={180}
          formatValue={formatDuration}
          onPick={openSlot}
        />
      </Panel>
      <Panel
        title="Approvals per 100 calls"
        note={totals.calls === 0 ? '' : `${((totals.asked / totals.calls) * 100).toFixed(1)} on average`}
      >
        <Plot
          label="Approvals per 100 calls"
          times={times}
          series={[{ name: 'asked', colour: '--plot-asked', values: share }]}
          kind="lines"
          height={180}
          formatValue={(value) => value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 })}
          onPick={(slot) => go(linkTo('calls', '', filterOfSlot(report, slot, 'status:pending')))}
        />
      </Panel>
      <Panel title="By agent">
        <Shares lines={agents} field="agent" />
      </Panel>
      <Panel title="By tool">
        <Shares lines={tools.slice(0, 10)} field="tool" />
      </Panel>
      <Panel title="Rules by hour" isWide>
        <RuleHours report={report} />
      </Panel>
      <Panel title="Budgets" isWide>
        <BudgetGauges sessions={sessions.value ?? []} />
      </Panel>
    </div>
  );
}

/** A slot without calls has no duration. */
const orNothing = (durationMs: number): number | null => (durationMs === 0 ? null : durationMs);

interface PanelProps {
  readonly title: string;
  readonly note?: string;
  readonly isWide?: boolean;
  readonly children: ReactNode;
}

function Panel({ title, note = '', isWide = false, children }: PanelProps) {
  return (
    <section className={isWide ? 'panel panel-wide' : 'panel'} aria-label={title}>
      <h2>
        {title} {note !== '' && <span className="muted">{note}</span>}
      </h2>
      {children}
    </section>
  );
}

/** Who did how much, as bars that lead to the calls. */
export function Shares({ lines, field }: { readonly lines: readonly Activity[]; readonly field: 'agent' | 'tool' }) {
  const totals = lines.map((line) => ({ name: line.name, totals: totalsOf(line) }));
  const most = Math.max(1, ...totals.map((each) => each.totals.calls));
  return (
    <ul className="shares">
      {totals.map(({ name, totals: each }) => (
        <li key={name}>
          <a className="share" href={linkTo('calls', '', `${field}:${name}`)} data-row-link>
            <span className="share-name">
              <Visible text={name} />
            </span>
            <span className="share-bar" aria-hidden="true">
              {endings.map((ending) => (
                <span
                  key={ending}
                  style={{ width: `${(each[ending] / most) * 100}%`, background: `var(${endingColours[ending]})` }}
                />
              ))}
            </span>
            <span className="share-count">{each.calls.toLocaleString('en')}</span>
            <span className="sr-only">{describeTotals(each)}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}

/** The same as the plot, for keys and for readers that read aloud. */
function SlotTable({ report, all }: { readonly report: ActivityReport; readonly all: Activity }) {
  const { fromMs, slotMs, slots } = report;
  const filled = Array.from({ length: slots }, (_, slot) => slot)
    .filter((slot) => endings.some((ending) => (all[ending][slot] ?? 0) > 0))
    .toReversed();
  return (
    <details className="fold">
      <summary>As a table</summary>
      <div className="heat-scroll" tabIndex={0} role="region" aria-label="Calls as a table">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">From</th>
              {endings.map((ending) => (
                <th key={ending} scope="col">
                  {endingWords[ending]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {filled.slice(0, 200).map((slot) => {
              const startMs = Number(fromMs) + slot * Number(slotMs);
              return (
                <tr key={slot}>
                  <th scope="row">
                    <a href={linkTo('calls', '', filterOfSlot(report, slot))}>
                      {formatMoment(startMs).slice(0, 10)} {formatClock(startMs)}
                    </a>
                  </th>
                  {endings.map((ending) => (
                    <td key={ending}>{all[ending][slot] ?? 0}</td>
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </details>
  );
}
