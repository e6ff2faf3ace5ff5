import { daemon } from '../daemon/connect.ts';
import type { Approval } from '../daemon/messages.ts';
import { useNowMs } from '../live/use-live.ts';
import { Empty, Loading, Problem } from '../shell/parts.tsx';
import { useLoaded } from '../shell/use-loaded.ts';
import { linkTo } from '../shell/use-route.ts';
import { formatTime } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';

const mostShown = 100;

/** What was decided, and by whom: before the page was opened, and since. Older decisions are in the audit log. */
export function DecidedList({ decided: fresh }: { readonly decided: readonly Approval[] }) {
  const nowMs = useNowMs();
  const { value: past, trouble } = useLoaded(readDecided);
  const known = new Set(fresh.map(({ id }) => id));
  const decided = [...fresh, ...(past ?? []).filter(({ id }) => !known.has(id))].slice(0, mostShown);
  if (trouble) return <Problem trouble={trouble} />;
  if (past === undefined) return <Loading what="what was decided" />;
  if (decided.length === 0) {
    return (
      <Empty title="Nothing was decided yet">
        <p>
          Earlier decisions are in the <a href={linkTo('audit')}>audit log</a>.
        </p>
      </Empty>
    );
  }
  return (
    <ul className="rows">
      {decided.map(({ id, callId, status, tool, title, agent, decidedBy, decidedByAgent, decidedAtMs, note }) => (
        <li key={id} className="line">
          <span className={`badge badge-${status === 'denied' || status === 'expired' ? 'denied' : 'ok'}`}>
            {status === 'used' ? 'approved' : status === 'expired' ? 'ran out' : status}
          </span>
          <span className="line-main">
            <a href={linkTo('calls', callId)}>
              <code>{tool}</code>
            </a>{' '}
            <Visible text={title} />
            {note !== '' && (
              <span className="muted block">
                “<Visible text={note} />”
              </span>
            )}
          </span>
          <span className="muted line-end">
            <Visible text={agent} /> ·{' '}
            {status === 'expired' ? 'nobody answered' : `by ${decidedByAgent ? 'agent ' : ''}${decidedBy}`}
            {decidedAtMs !== '0' && ` · ${formatTime(Number(decidedAtMs), nowMs)}`}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Newest decision first. Lists have them by when they were asked. */
async function readDecided(): Promise<readonly Approval[]> {
  const request = { limit: 200 };
  const { approvals } = await daemon.call('ApprovalService/ListApprovals', request);
  const ended = approvals.filter(({ status }) => status !== 'pending');
  return ended.toSorted((a, b) => Number(b.decidedAtMs) - Number(a.decidedAtMs));
}
