import { useDeferredValue, useMemo, useState } from 'react';
import type { Call, Outcome } from '../live/call.ts';
import { outcomes } from '../live/call.ts';
import { useGate, useNowMs, useValue } from '../live/use-live.ts';
import { Empty, OutcomeBadge, PageHead } from '../shell/parts.tsx';
import { linkTo } from '../shell/use-route.ts';
import { formatDuration, formatTime } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';
import { CallDetail } from './call-detail.tsx';
import { OlderCall } from './older-call.tsx';

const mostShown = 200;

/** Every call, as it happens. */
export function CallsPage({ callId }: { readonly callId: string }) {
  const { calls } = useValue(useGate().log.view);
  const [text, setText] = useState('');
  const [outcome, setOutcome] = useState<Outcome | ''>('');
  const [who, setWho] = useState('');
  const wanted = useDeferredValue(text.trim().toLowerCase());
  const matching = useMemo(
    () => calls.filter((call) => matches(call, { wanted, outcome, who })),
    [calls, wanted, outcome, who],
  );
  const open = calls.find(({ id }) => id === callId);
  return (
    <>
      <PageHead title="Calls">
        <div className="filters" role="search">
          <input
            type="search"
            aria-label="Filter by tool, agent or text"
            placeholder="Filter by tool, agent or text"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <select aria-label="Outcome" value={outcome} onChange={(event) => setOutcome(event.target.value as Outcome)}>
            <option value="">every outcome</option>
            {outcomes.map((each) => (
              <option key={each} value={each}>
                {each === 'waiting' ? 'asked' : each === 'error' ? 'failed' : each}
              </option>
            ))}
          </select>
          <select aria-label="Caller" value={who} onChange={(event) => setWho(event.target.value)}>
            <option value="">everybody</option>
            <option value="agent">agents</option>
            <option value="operator">people</option>
          </select>
        </div>
      </PageHead>
      <div className={`split${callId === '' ? '' : ' split-open'}`}>
        <div className="split-list">
          <CallList calls={matching.slice(0, mostShown)} openId={callId} hasAny={calls.length > 0} />
          {matching.length > mostShown && (
            <p className="muted">The newest {mostShown} are shown. Filter to see others, or look into the audit log.</p>
          )}
        </div>
        {callId !== '' &&
          (open === undefined ? <OlderCall key={callId} callId={callId} /> : <CallDetail call={open} />)}
      </div>
    </>
  );
}

interface CallListProps {
  readonly calls: readonly Call[];
  readonly openId: string;
  readonly hasAny: boolean;
}

function CallList({ calls, openId, hasAny }: CallListProps) {
  const nowMs = useNowMs();
  if (calls.length === 0) {
    return hasAny ? (
      <Empty title="No call fits the filter" />
    ) : (
      <Empty title="No calls yet">
        <p>
          Every call of every agent appears here as it happens: what it was, what the gate decided, and how it ended.
        </p>
      </Empty>
    );
  }
  return (
    <ul className="rows" aria-label="Calls">
      {calls.map(({ id, outcome, tool, agent, summary, durationMs, startedAtMs }) => (
        <li key={id}>
          <a className="line line-call" href={linkTo('calls', id)} aria-current={id === openId ? 'true' : undefined}>
            <time className="muted">{formatTime(startedAtMs, nowMs)}</time>
            <OutcomeBadge outcome={outcome} />
            <code className="line-tool">
              <Visible text={tool} />
            </code>
            <span className="line-agent">
              <Visible text={agent || 'nobody known'} />
            </span>
            <span className="line-summary">
              <Visible text={summary} />
            </span>
            <span className="line-duration muted">{durationMs === undefined ? '' : formatDuration(durationMs)}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}

interface CallFilter {
  readonly wanted: string;
  readonly outcome: Outcome | '';
  readonly who: string;
}

function matches(call: Call, { wanted, outcome, who }: CallFilter): boolean {
  if (outcome !== '' && call.outcome !== outcome) return false;
  if (who !== '' && call.principal !== who) return false;
  return wanted === '' || `${call.tool}\n${call.agent}\n${call.summary}\n${call.id}`.toLowerCase().includes(wanted);
}
