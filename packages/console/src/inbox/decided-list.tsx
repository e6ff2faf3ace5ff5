import type { Approval } from '../daemon/messages.ts';
import { useNowMs } from '../live/use-live.ts';
import { Empty } from '../shell/parts.tsx';
import { linkTo } from '../shell/use-route.ts';
import { formatTime } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';

/** What was decided, by whom, while the console was open. The rest is in the audit log. */
export function DecidedList({ decided }: { readonly decided: readonly Approval[] }) {
  const nowMs = useNowMs();
  if (decided.length === 0) {
    return (
      <Empty title="Nothing was decided since this page was opened">
        <p>
          Earlier decisions are in the <a href={linkTo('audit')}>audit log</a>.
        </p>
      </Empty>
    );
  }
  return (
    <ul className="rows">
      {decided.map(({ id, status, tool, title, agent, decidedBy, decidedByAgent, decidedAtMs, note }) => (
        <li key={id} className="line">
          <span className={`badge badge-${status === 'denied' || status === 'expired' ? 'denied' : 'ok'}`}>
            {status === 'used' ? 'approved' : status}
          </span>
          <span className="line-main">
            <code>{tool}</code> <Visible text={title} />
            {note !== '' && (
              <span className="muted block">
                “<Visible text={note} />”
              </span>
            )}
          </span>
          <span className="muted line-end">
            <Visible text={agent} /> ·{' '}
            {status === 'expired' ? 'nobody answered' : `by ${decidedByAgent ? 'agent ' : ''}${decidedBy}`}
            {decidedAtMs > 0 && ` · ${formatTime(decidedAtMs, nowMs)}`}
          </span>
        </li>
      ))}
    </ul>
  );
}
