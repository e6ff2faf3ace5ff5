import { useMemo } from 'react';
import type { ReactNode } from 'react';
import { Plot } from '../activity/plot.tsx';
import { Shares } from '../activity/activity-page.tsx';
import {
  addUp,
  describeTotals,
  endingColours,
  endings,
  endingWords,
  filterOfSlot,
  timesOf,
  totalsOf,
} from '../activity/series.ts';
import { useActivity } from '../activity/use-activity.ts';
import { tellPaths, useCoverage } from '../clients/use-coverage.ts';
import type { ActivityReport } from '../daemon/messages.ts';
import { FirstSteps } from '../inbox/first-steps.tsx';
import { useGate, useNowMs, useValue } from '../live/use-live.ts';
import { foldItems } from '../live/fold-items.ts';
import { BudgetGauges } from '../sessions/budget-gauges.tsx';
import { useSessions } from '../sessions/use-sessions.ts';
import { Loading, PageHead, Problem, RiskBadge } from '../shell/parts.tsx';
import { go, linkTo } from '../shell/use-route.ts';
import { formatAgo, formatCount, formatLeft, formatShortTime } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';
import { useChangesToday } from './use-changes-today.ts';

/** The page that stays open: what waits, how the day goes, what runs out, and whether the log is sound. */
export function HomePage() {
  const { value: report, trouble, reload } = useActivity(24);
  const { calls } = useValue(useGate().log.view);
  // Of a gate that nobody has used yet there is nothing to show but the way in.
  const isNew = report?.lastCalls.length === 0 && !calls.some(({ principal }) => principal === 'agent');
  if (isNew) {
    return (
      <>
        <PageHead title="Today" />
        <FirstSteps hasDecided={false} />
      </>
    );
  }
  return (
    <>
      <PageHead title="Today">
        <Figures report={report} />
      </PageHead>
      {trouble && <Problem trouble={trouble} onRetry={reload} />}
      <div className="home">
        <Waiting />
        <Denials report={report} />
        <Limits />
        <Day report={report} />
        <Changed />
        <Watch report={report} />
      </div>
    </>
  );
}

function Tile({
  title,
  link,
  children,
  area,
}: {
  readonly title: string;
  readonly link?: ReactNode;
  readonly children: ReactNode;
  readonly area: string;
}) {
  return (
    <section className={`panel home-${area}`} aria-label={title}>
      <h2>
        {title} {link}
      </h2>
      {children}
    </section>
  );
}

function Figures({ report }: { readonly report: ActivityReport | undefined }) {
  const nowMs = useNowMs();
  if (report === undefined) return null;
  const totals = totalsOf(addUp(report.agents, report.slots));
  const signedMs = Number(report.signedThroughMs);
  return (
    <ul className="figures">
      <li>
        <a href={linkTo('calls', '', 'since:24h')}>
          <strong>{totals.calls.toLocaleString('en')}</strong> calls
        </a>
      </li>
      <li>
        <a href={linkTo('calls', '', 'status:denied since:24h')}>
          <strong className={totals.denied > 0 ? 'bad' : ''}>{totals.denied.toLocaleString('en')}</strong> denied
        </a>
      </li>
      <li>
        <a href={linkTo('calls', '', 'status:pending since:24h')}>
          <strong>{totals.asked.toLocaleString('en')}</strong> asked
        </a>
      </li>
      <li>
        <a href={linkTo('audit')}>
          log signed <strong>{signedMs === 0 ? 'not yet' : formatAgo(signedMs, nowMs)}</strong>
        </a>
      </li>
    </ul>
  );
}

/** As many as there is room for on one screen. */
const mostWaiting = 6;
const mostDenied = 4;

function Waiting() {
  const nowMs = useNowMs();
  const { isLoaded, items, count } = useValue(useGate().inbox.view);
  const folds = useMemo(() => foldItems(items), [items]);
  return (
    <Tile
      title="Waits for you"
      area="waiting"
      link={count > 0 && <a href={linkTo('approvals')}>{formatCount(count, 'request')}</a>}
    >
      {!isLoaded && <Loading what="what waits" />}
      {isLoaded && items.length === 0 && (
        <p className="muted">
          Nothing. When an agent needs a person, the request appears here.{' '}
          <a href={linkTo('approvals', 'decided')}>Earlier decisions</a>
        </p>
      )}
      <ul className="home-rows">
        {folds.slice(0, mostWaiting).map(([item, ...others]) => {
          const { agent, expiresAtMs } = item.kind === 'plan' ? item.plan : item.approval;
          return (
            <li key={item.id}>
              <a href={linkTo('approvals', item.id)} data-row-link>
                <span className="home-row-main">
                  <strong>
                    <Visible text={agent} />
                  </strong>{' '}
                  {others.length > 0 && `and ${others.length} more: `}
                  <Visible text={item.kind === 'plan' ? `plans: ${item.plan.summary}` : item.approval.title} />
                </span>
                {item.kind === 'approval' && <RiskBadge risk={item.approval.risk} />}
                <span className="muted countdown">{formatLeft(Number(expiresAtMs) - nowMs)}</span>
              </a>
            </li>
          );
        })}
      </ul>
    </Tile>
  );
}

function Denials({ report }: { readonly report: ActivityReport | undefined }) {
  const denied = (report?.agents ?? [])
    .map((line) => ({ name: line.name, denied: line.denied.reduce((sum, count) => sum + count, 0) }))
    .filter((each) => each.denied > 0)
    .toSorted((a, b) => b.denied - a.denied)
    .slice(0, mostDenied);
  const most = Math.max(1, ...denied.map((each) => each.denied));
  return (
    <Tile
      title="Denied in the last day"
      area="denials"
      link={denied.length > 0 && <a href={linkTo('calls', '', 'status:denied since:24h')}>calls</a>}
    >
      {report === undefined && <Loading what="the day" />}
      {report !== undefined && denied.length === 0 && <p className="muted">No agent was denied anything.</p>}
      <ul className="shares">
        {denied.map(({ name, denied: count }) => (
          <li key={name}>
            <a className="share" href={linkTo('calls', '', `agent:${name} status:denied since:24h`)} data-row-link>
              <span className="share-name">
                <Visible text={name} />
              </span>
              <span className="share-bar" aria-hidden="true">
                <span style={{ width: `${(count / most) * 100}%`, background: 'var(--plot-denied)' }} />
              </span>
              <span className="share-count">{count}</span>
            </a>
          </li>
        ))}
      </ul>
      {report !== undefined && report.agents.length > 0 && (
        <>
          <h3>Calls by agent</h3>
          <Shares lines={report.agents.slice(0, 6)} field="agent" />
        </>
      )}
    </Tile>
  );
}

function Limits() {
  const { value, trouble } = useSessions();
  return (
    <Tile title="Running out" area="limits" link={<a href={linkTo('sessions')}>agents</a>}>
      {trouble && <Problem trouble={trouble} />}
      {value === undefined && trouble === undefined && <Loading what="budgets" />}
      {value !== undefined && <BudgetGauges sessions={value} most={6} />}
    </Tile>
  );
}

function Day({ report }: { readonly report: ActivityReport | undefined }) {
  if (report === undefined) {
    return (
      <Tile title="The day" area="day">
        <Loading what="the day" />
      </Tile>
    );
  }
  const all = addUp(report.agents, report.slots);
  return (
    <Tile title="The day" area="day" link={<a href={linkTo('activity')}>{describeTotals(totalsOf(all))}</a>}>
      <Plot
        label="Calls of agents in the last day"
        times={timesOf(report)}
        series={endings.map((ending) => ({
          name: endingWords[ending],
          colour: endingColours[ending],
          values: all[ending],
        }))}
        kind="bars"
        height={190}
        formatValue={(value) => Math.round(value).toLocaleString('en')}
        onPick={(slot) => go(linkTo('calls', '', filterOfSlot(report, slot)))}
      />
    </Tile>
  );
}

function Changed() {
  const nowMs = useNowMs();
  const { value, trouble } = useChangesToday();
  return (
    <Tile title="Changed today" area="changed" link={<a href={linkTo('calls', '', 'about:people')}>by people</a>}>
      {trouble && <Problem trouble={trouble} />}
      {value === undefined && trouble === undefined && <Loading what="what changed" />}
      {value?.length === 0 && <p className="muted">Nobody changed sessions, rules, tools or the mode today.</p>}
      <ul className="home-rows">
        {value?.map(({ key, link, who, text, atMs }) => (
          <li key={key}>
            <a href={link} data-row-link>
              <span className="home-row-main">
                <strong>
                  <Visible text={who} />
                </strong>{' '}
                <Visible text={text} />
              </span>
              <span className="muted">{formatShortTime(atMs, nowMs)}</span>
            </a>
          </li>
        ))}
      </ul>
    </Tile>
  );
}

/** Who could go around the gate: an agent that runs as the same user, outside of a sandbox. */
const installWords: Readonly<Record<string, string>> = {
  separated: 'under a user of its own',
  advisory: 'not under a user of its own',
};

/** Whether anything is out of the ordinary, and whether the gate and its log are sound. */
function Watch({ report }: { readonly report: ActivityReport | undefined }) {
  const nowMs = useNowMs();
  const status = useValue(useGate().status);
  const { isLoaded, unseen } = useValue(useGate().anomalies.view);
  const { value: coverage } = useCoverage();
  const signedMs = Number(report?.signedThroughMs ?? 0);
  const unsigned = Number(status?.logSize ?? 0) - Number(status?.checkpointSize ?? 0);
  return (
    <Tile title="Is all well?" area="watch">
      <dl className="watch">
        <div>
          <dt>Anomalies</dt>
          <dd>
            <a href={linkTo('anomalies', '', unseen.length > 0 ? 'unseen' : '')}>
              {!isLoaded ? '…' : unseen.length === 0 ? 'none to look at' : `${unseen.length} not seen`}
            </a>
          </dd>
        </div>
        <div>
          <dt>Clients</dt>
          <dd>
            <a href={linkTo('clients')}>
              {coverage === undefined ? '…' : coverage === null ? 'coverage not checked' : tellPaths(coverage.paths)}
            </a>
            {coverage && <span className="muted"> checked {formatAgo(coverage.atMs, nowMs)}</span>}
          </dd>
        </div>
        <div>
          <dt>Log</dt>
          <dd>
            <a href={linkTo('audit')}>{formatCount(Number(status?.logSize ?? 0), 'record')}</a>
            {signedMs > 0 && <span className="muted"> signed through {formatShortTime(signedMs, nowMs)}</span>}
            {unsigned > 0 && <span className="muted"> · {unsigned} to be signed</span>}
          </dd>
        </div>
        <div>
          <dt>Rules</dt>
          <dd>
            <a href={linkTo('rules')}>{formatCount(status?.ruleCount ?? 0, 'rule')}</a>{' '}
            <span className="muted">in force</span>
          </dd>
        </div>
        <div>
          <dt>Tools</dt>
          <dd>
            <a href={linkTo('tools')}>{formatCount(status?.toolCount ?? 0, 'tool')}</a>
          </dd>
        </div>
        <div>
          <dt>Running</dt>
          <dd>{formatCount(status?.callsInFlight ?? 0, 'call')}</dd>
        </div>
        <div>
          <dt>Gate</dt>
          <dd>
            {status?.health ?? '…'}{' '}
            {status && <span className="muted">{installWords[status.install] ?? status.install}</span>}
          </dd>
        </div>
      </dl>
    </Tile>
  );
}
