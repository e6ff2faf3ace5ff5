import { useCallback, useEffect, useState } from 'react';
import { daemon } from '../daemon/connect.ts';
import type { Anomaly } from '../daemon/messages.ts';
import { useKeys } from '../inbox/use-keys.ts';
import { useGate, useNowMs, useValue } from '../live/use-live.ts';
import { Empty, Loading, PageHead, Problem } from '../shell/parts.tsx';
import { useLoaded } from '../shell/use-loaded.ts';
import { go, linkTo } from '../shell/use-route.ts';
import { formatShortTime } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';
import { AnomalyDetail } from './anomaly-detail.tsx';
import { parseAnomalyFilter, requestOf, spellAnomalyFilter } from './anomaly-filter.ts';
import type { AnomalyFilter } from './anomaly-filter.ts';
import { agentOf, anomalyKinds, tellExtent, titleOfAnomaly } from './anomaly-words.ts';

const pageSize = 50;
const mostListed = 200;

/** What was out of the ordinary in the calls of agents, newest first. The filter is in the address. */
export function AnomaliesPage({ anomalyId, query }: { readonly anomalyId: string; readonly query: string }) {
  const filter = parseAnomalyFilter(query);
  const { turn, isLoaded } = useValue(useGate().anomalies.view);
  const [limit, setLimit] = useState(pageSize);
  const spelled = spellAnomalyFilter(filter);
  const load = useCallback(
    () => daemon.call('AnomalyService/ListAnomalies', { ...requestOf(parseAnomalyFilter(spelled)), limit }),
    [spelled, limit],
  );
  // The first news are those that are listed anyway.
  const { value, trouble, reload } = useLoaded(load, isLoaded ? Math.max(turn, 1) : 1);
  useKeys((key) => {
    if (key !== 'Escape' || anomalyId === '') return false;
    go(linkTo('anomalies', '', query));
    return true;
  });
  const anomalies = value?.anomalies ?? [];
  return (
    <>
      <PageHead title="Anomalies">
        <Filters key={filter.agent} filter={filter} />
      </PageHead>
      {trouble && <Problem trouble={trouble} onRetry={reload} />}
      <div className={`split${anomalyId === '' ? '' : ' split-open'}`}>
        <div className="split-list">
          {value === undefined && trouble === undefined && <Loading what="the anomalies" />}
          {value !== undefined && anomalies.length === 0 && <NoAnomalies isFiltered={spelled !== ''} />}
          <ul className="rows" aria-label="Anomalies">
            {anomalies.map((anomaly) => (
              <li key={anomaly.id}>
                <AnomalyRow anomaly={anomaly} isOpen={anomaly.id === anomalyId} query={query} />
              </li>
            ))}
          </ul>
          {value?.more && limit < mostListed && (
            <p className="list-note">
              <button type="button" onClick={() => setLimit(mostListed)}>
                Show more
              </button>
            </p>
          )}
          {value?.more && limit >= mostListed && (
            <p className="muted list-note">
              There are more. <code>npx sallyport anomalies report --since 30d</code> has all of a time.
            </p>
          )}
        </div>
        {anomalyId !== '' && <AnomalyDetail key={anomalyId} anomalyId={anomalyId} query={query} />}
      </div>
    </>
  );
}

function Filters({ filter }: { readonly filter: AnomalyFilter }) {
  const [agent, setAgent] = useState(filter.agent);
  const ask = (changed: Partial<AnomalyFilter>): void =>
    go(linkTo('anomalies', '', spellAnomalyFilter({ ...filter, agent, ...changed })));
  // Somebody who writes is not asked to press Enter; each letter is not a search either.
  useEffect(() => {
    if (agent.trim() === filter.agent) return undefined;
    const timer = setTimeout(() => ask({ agent }), 700);
    return () => clearTimeout(timer);
  }, [agent]);
  return (
    <>
      <nav className="tabs" aria-label="Which anomalies">
        <button type="button" aria-pressed={!filter.unseen} onClick={() => ask({ unseen: false })}>
          All
        </button>
        <button type="button" aria-pressed={filter.unseen} onClick={() => ask({ unseen: true })}>
          Not seen
        </button>
      </nav>
      <form
        className="filters"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          ask({ agent });
        }}
      >
        <select aria-label="Kind" value={filter.kind} onChange={(event) => ask({ kind: event.target.value })}>
          <option value="">every kind</option>
          {anomalyKinds.map(({ kind, title }) => (
            <option key={kind} value={kind}>
              {title}
            </option>
          ))}
        </select>
        <input
          type="search"
          aria-label="Agent"
          placeholder="agent"
          autoComplete="off"
          spellCheck={false}
          value={agent}
          onChange={(event) => setAgent(event.target.value)}
        />
      </form>
    </>
  );
}

interface AnomalyRowProps {
  readonly anomaly: Anomaly;
  readonly isOpen: boolean;
  readonly query: string;
}

function AnomalyRow({ anomaly, isOpen, query }: AnomalyRowProps) {
  const nowMs = useNowMs();
  const { id, beganAtMs, summary, seenBy } = anomaly;
  return (
    <a className="line" href={linkTo('anomalies', id, query)} aria-current={isOpen ? 'true' : undefined} data-row-link>
      <span className={`badge badge-${seenBy === '' ? 'waiting' : 'calm'}`}>{seenBy === '' ? 'not seen' : 'seen'}</span>
      <span className="line-main">
        <strong>
          <Visible text={agentOf(anomaly)} />
        </strong>{' '}
        <Visible text={titleOfAnomaly(anomaly)} />
        <span className="muted block">
          <Visible text={summary} /> Met by {tellExtent(anomaly)}.
        </span>
      </span>
      <time className="line-end muted">{formatShortTime(Number(beganAtMs), nowMs)}</time>
    </a>
  );
}

function NoAnomalies({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty title="No anomaly fits the filter">
        <p>
          <a href={linkTo('anomalies')}>Show all anomalies</a>
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="Nothing is out of the ordinary">
      <p>The gate looks at the calls of every agent. It would report here, as it happens:</p>
      <dl className="facts">
        {anomalyKinds.map(({ kind, title, about }) => (
          <div key={kind} className="fact">
            <dt>{title}</dt>
            <dd>{about}</dd>
          </div>
        ))}
      </dl>
      <p>
        Agents that go on against their limits are in the{' '}
        <a href={linkTo('calls', '', 'kind:call,event event:limits_ignored,quarantine_reported')}>log of calls</a>.
      </p>
    </Empty>
  );
}
