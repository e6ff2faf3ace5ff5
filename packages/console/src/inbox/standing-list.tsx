import { useState } from 'react';
import { daemon } from '../daemon/connect.ts';
import type { StandingApproval } from '../daemon/messages.ts';
import { useGate, useNowMs, useValue } from '../live/use-live.ts';
import { Empty, Loading, Problem, troubleOf } from '../shell/parts.tsx';
import type { Trouble } from '../shell/parts.tsx';
import { useLoaded } from '../shell/use-loaded.ts';
import { formatCount, formatLeft } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';

async function loadStanding(): Promise<readonly StandingApproval[]> {
  return (await daemon.call('ApprovalService/ListStandingApprovals', {})).standing;
}

/** Approvals for more than one call, which go on until somebody takes them back or their time is over. */
export function StandingList() {
  const changes = useValue(useGate().changes);
  const { value, trouble, reload } = useLoaded(loadStanding, changes.standing);
  const [failed, setFailed] = useState<Trouble>();
  const nowMs = useNowMs();
  const revoke = async (id: string): Promise<void> => {
    setFailed(undefined);
    try {
      await daemon.call('ApprovalService/RevokeStandingApproval', { id });
    } catch (error) {
      setFailed(troubleOf(error));
    }
    reload();
  };
  if (trouble !== undefined && value === undefined) return <Problem trouble={trouble} onRetry={reload} />;
  if (value === undefined) return <Loading what="standing approvals" />;
  const inForce = value.filter(({ expiresAtMs }) => Number(expiresAtMs) > nowMs);
  return (
    <>
      {failed && <Problem trouble={failed} />}
      {inForce.length === 0 && (
        <Empty title="No standing approvals">
          <p>
            Answer a request with “For the session” <kbd>s</kbd> or “For minutes…” <kbd>t</kbd> to approve further calls
            of the same kind as well. They are listed here, and you can take them back.
          </p>
        </Empty>
      )}
      <ul className="rows">
        {inForce.map(({ id, tool, agent, exactScope, grantedBy, expiresAtMs, usesLeft }) => (
          <li key={id} className="line">
            <span className="line-main">
              <code>{tool}</code> by <Visible text={agent} />
              <span className="muted block">
                {exactScope ? 'exactly the same things' : 'whatever it touches'} ·{' '}
                {usesLeft === undefined ? 'any number of calls' : `${formatCount(usesLeft, 'call')} left`} · by{' '}
                {grantedBy}
              </span>
            </span>
            <span className="line-end">{formatLeft(Number(expiresAtMs) - nowMs)} left</span>
            <button type="button" onClick={() => void revoke(id)}>
              Revoke
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
