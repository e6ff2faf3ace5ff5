import { useCallback, useEffect } from 'react';
import { daemon } from '../daemon/connect.ts';
import { useGate } from '../live/use-live.ts';
import { Empty, Loading, Problem } from '../shell/parts.tsx';
import { useLoaded } from '../shell/use-loaded.ts';
import { linkTo } from '../shell/use-route.ts';
import { formatMoment } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';

/** A link to a request that does not wait any more says what became of it. One that waits comes into the list. */
export function GoneRequest({ id, onGoOn }: { readonly id: string; readonly onGoOn: () => void }) {
  const load = useCallback(() => daemon.call('ApprovalService/GetApproval', { id }), [id]);
  const { value, trouble } = useLoaded(load);
  const { inbox } = useGate();
  // One that still waits stands behind those that are listed so far.
  const isWaiting = value?.approval?.status === 'pending';
  useEffect(() => {
    if (isWaiting && value.approval !== undefined) inbox.add(value.approval);
  }, [inbox, isWaiting, value]);
  const goOn = (
    <p>
      <button type="button" onClick={onGoOn}>
        See what waits now
      </button>
    </p>
  );
  if (trouble) {
    return (
      <Empty title="There is no such request">
        <Problem trouble={trouble} />
        {goOn}
      </Empty>
    );
  }
  const approval = value?.approval;
  if (approval === undefined || isWaiting) return <Loading what="the request" />;
  const { status, title, agent, decidedBy, decidedAtMs, note, callId } = approval;
  return (
    <Empty
      title={
        status === 'expired'
          ? 'Nobody answered this request in time'
          : `This request was ${status === 'used' ? 'approved' : status}`
      }
    >
      <p>
        <strong>
          <Visible text={agent} />
        </strong>{' '}
        asked: <Visible text={title} />
      </p>
      {decidedBy !== '' && (
        <p className="muted">
          by <Visible text={decidedBy} />, {formatMoment(Number(decidedAtMs))}
        </p>
      )}
      {note !== '' && (
        <p>
          “<Visible text={note} />”
        </p>
      )}
      <p>
        <a href={linkTo('calls', callId)}>What happened then</a>
      </p>
      {goOn}
    </Empty>
  );
}
