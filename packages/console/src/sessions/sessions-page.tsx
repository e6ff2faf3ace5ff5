import { useCallback, useState } from 'react';
import { useActivity } from '../activity/use-activity.ts';
import { callTool } from '../daemon/call-tool.ts';
import { currentCredential } from '../daemon/credential.ts';
import type { Session } from '../daemon/messages.ts';
import { useGate, useNowMs, useValue } from '../live/use-live.ts';
import { Empty, Loading, PageHead, Problem } from '../shell/parts.tsx';
import { useGovernedCall } from '../shell/use-governed-call.tsx';
import { useLoaded } from '../shell/use-loaded.ts';
import { linkTo } from '../shell/use-route.ts';
import { formatAgo, formatCount, formatMoment } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';
import { GaugeBar } from './budget-gauges.tsx';
import { gaugesOf } from './budgets.ts';
import { LeaseView } from './lease-view.tsx';
import { NewSession } from './new-session.tsx';
import { tellLease } from './tell-lease.ts';

/** Who is in, what they did last, what they may still do, and the way out. `part` opens a session, or the way in. */
export function SessionsPage({ part }: { readonly part: string }) {
  const gate = useGate();
  const changes = useValue(gate.changes);
  const isGreeting = useValue(gate.newcomer) !== undefined;
  const [isAll, setIsAll] = useState(false);
  const load = useCallback(
    async () => (await callTool<{ sessions: readonly Session[] }>('sessions.list', { include_ended: isAll })).sessions,
    [isAll],
  );
  const { value, trouble, reload } = useLoaded(load, changes.sessions);
  const { value: activity } = useActivity(1);
  const lastCalls = new Map(activity?.lastCalls.map(({ sessionId, timeMs }) => [sessionId, Number(timeMs)]));
  const { run, dialog, trouble: failed } = useGovernedCall();
  const agents = value?.filter(({ principal }) => principal === 'agent').toReversed();
  const consoles = value?.filter(({ principal, door }) => principal === 'operator' && door !== '').toReversed();
  const end = (id: string): void => void run('sessions.end', { session_id: id }).then(reload);
  const line = (session: Session) => (
    <SessionLine
      key={session.sessionId}
      session={session}
      lastCallMs={lastCalls.get(session.sessionId)}
      isFirstOpen={session.sessionId === part}
      onEnd={end}
    />
  );
  return (
    <>
      <PageHead title="Agents">
        <label className="check">
          <input type="checkbox" checked={isAll} onChange={(event) => setIsAll(event.target.checked)} /> also ended ones
        </label>
      </PageHead>
      {dialog}
      {failed && <Problem trouble={failed} />}
      {trouble && <Problem trouble={trouble} onRetry={reload} />}
      <details className="block-section way-in" open={part === 'new' || isGreeting || agents?.length === 0}>
        <summary>
          <h2>Let an agent in</h2>
        </summary>
        <NewSession />
      </details>
      {value === undefined && trouble === undefined && <Loading what="the sessions" />}
      {agents?.length === 0 && (
        <Empty title="No agent is in">
          <p>An agent comes in with the token of a session. Name one above, and paste what you get into its client.</p>
        </Empty>
      )}
      <ul className="rows" aria-label="Agents">
        {agents?.map(line)}
      </ul>
      <h2>Consoles</h2>
      <ul className="rows" aria-label="Consoles">
        {consoles?.map(line)}
      </ul>
    </>
  );
}

interface SessionLineProps {
  readonly session: Session;
  /** Undefined: it never called. */
  readonly lastCallMs: number | undefined;
  readonly isFirstOpen: boolean;
  readonly onEnd: (id: string) => void;
}

function SessionLine({ session, lastCallMs, isFirstOpen, onEnd }: SessionLineProps) {
  const nowMs = useNowMs();
  const { sessionId: id, agent, status, createdAtMs, spent, expiresAtMs } = session;
  const [isOpen, setIsOpen] = useState(isFirstOpen);
  const isOwn = id === currentCredential()?.sessionId;
  const isAgent = session.principal === 'agent';
  const gauges = isAgent ? gaugesOf(session, nowMs) : [];
  return (
    <li>
      <div className="line">
        <span className={`badge badge-${status === 'active' ? 'ok' : 'calm'}`}>{status}</span>
        <span className="line-main">
          <strong>
            <Visible text={agent} />
          </strong>{' '}
          {isOwn && <span className="badge badge-calm">this console</span>}{' '}
          <code className="muted session-id">{id}</code>
          <span className="block muted">
            {isAgent && (lastCallMs === undefined ? 'no call yet · ' : `last call ${formatAgo(lastCallMs, nowMs)} · `)}
            {formatCount(Number(spent?.calls ?? 0), 'call')} since {formatMoment(Number(createdAtMs)).slice(0, 16)}
            {expiresAtMs === undefined && ' · does not end by itself'}
          </span>
          {isAgent && session.lease !== undefined && (
            <span className="block muted">
              <Visible text={tellLease(session.lease)} />
            </span>
          )}
          {gauges.map((gauge) => (
            <span key={gauge.text} className="session-gauge">
              {gauge.text} <GaugeBar gauge={gauge} />
            </span>
          ))}
        </span>
        <span className="line-end line-buttons">
          {isAgent && (
            <>
              <a className="button" href={linkTo('calls', '', `session:${id}`)}>
                Calls
              </a>
              <button type="button" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
                Lease
              </button>
            </>
          )}
          {status === 'active' && !isOwn && (
            <button type="button" className="danger" onClick={() => onEnd(id)}>
              End
            </button>
          )}
        </span>
      </div>
      {isOpen && <LeaseView session={session} />}
    </li>
  );
}
