import { useCallback, useState } from 'react';
import { callTool } from '../daemon/call-tool.ts';
import { currentCredential } from '../daemon/credential.ts';
import { useGate, useNowMs, useValue } from '../live/use-live.ts';
import { Empty, Loading, PageHead, Problem } from '../shell/parts.tsx';
import { useGovernedCall } from '../shell/use-governed-call.tsx';
import { useLoaded } from '../shell/use-loaded.ts';
import type { Session } from '../daemon/messages.ts';
import { formatCount, formatLeft, formatMoment } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';
import { LeaseView } from './lease-view.tsx';
import { NewSession } from './new-session.tsx';

/** Who is in, with what lease, and the way out. */
export function SessionsPage() {
  const changes = useValue(useGate().changes);
  const [isAll, setIsAll] = useState(false);
  const load = useCallback(
    async () => (await callTool<{ sessions: readonly Session[] }>('sessions.list', { include_ended: isAll })).sessions,
    [isAll],
  );
  const { value, trouble, reload } = useLoaded(load, changes.sessions);
  const { run, dialog, trouble: failed } = useGovernedCall();
  const agents = value?.filter(({ principal }) => principal === 'agent').toReversed();
  const consoles = value?.filter(({ principal, door }) => principal === 'operator' && door !== '').toReversed();
  const end = (id: string): void => void run('sessions.end', { session_id: id }).then(reload);
  return (
    <>
      <PageHead title="Sessions">
        <label className="check">
          <input type="checkbox" checked={isAll} onChange={(event) => setIsAll(event.target.checked)} /> also ended ones
        </label>
      </PageHead>
      {dialog}
      {failed && <Problem trouble={failed} />}
      {trouble && <Problem trouble={trouble} onRetry={reload} />}
      <section className="block-section">
        <h2>Let an agent in</h2>
        <NewSession />
      </section>
      <h2>Agents</h2>
      {value === undefined && trouble === undefined && <Loading what="the sessions" />}
      {agents?.length === 0 && <Empty title="No agent is in" />}
      <ul className="rows">
        {agents?.map((session) => (
          <SessionLine key={session.sessionId} session={session} onEnd={end} />
        ))}
      </ul>
      <h2>Consoles</h2>
      <ul className="rows">
        {consoles?.map((session) => (
          <SessionLine key={session.sessionId} session={session} onEnd={end} />
        ))}
      </ul>
    </>
  );
}

interface SessionLineProps {
  readonly session: Session;
  readonly onEnd: (id: string) => void;
}

function SessionLine({ session, onEnd }: SessionLineProps) {
  const { sessionId: id, agent, status, createdAtMs, spent, budget } = session;
  const [isOpen, setIsOpen] = useState(false);
  const isOwn = id === currentCredential()?.sessionId;
  const isAgent = session.principal === 'agent';
  return (
    <li>
      <div className="line">
        <span className={`badge badge-${status === 'active' ? 'ok' : 'calm'}`}>{status}</span>
        <span className="line-main">
          <strong>
            <Visible text={agent} />
          </strong>{' '}
          {isOwn && <span className="badge badge-calm">this console</span>}
          <span className="block muted">
            since {formatMoment(Number(createdAtMs))} · {formatCount(Number(spent?.calls ?? 0), 'call')}
            {budget?.maxCalls !== undefined && ` of ${budget.maxCalls}`}
            <Expiry expiresAtMs={session.expiresAtMs} />
          </span>
        </span>
        <span className="line-end line-buttons">
          {isAgent && (
            <button type="button" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
              Lease
            </button>
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

function Expiry({ expiresAtMs }: { readonly expiresAtMs: string | undefined }) {
  const nowMs = useNowMs();
  if (expiresAtMs === undefined) return <> · does not expire</>;
  const leftMs = Number(expiresAtMs) - nowMs;
  return <> · {leftMs > 0 ? `${formatLeft(leftMs)} left` : 'expired'}</>;
}
