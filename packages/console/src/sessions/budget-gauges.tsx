import type { Session } from '../daemon/messages.ts';
import { useNowMs } from '../live/use-live.ts';
import { linkTo } from '../shell/use-route.ts';
import { Visible } from '../text/visible.tsx';
import { gaugesOf } from './budgets.ts';
import type { Gauge } from './budgets.ts';

/** What of whom runs out, the fullest first. */
export function BudgetGauges({
  sessions,
  most = 12,
}: {
  readonly sessions: readonly Session[];
  readonly most?: number;
}) {
  const nowMs = useNowMs();
  const gauges = sessions
    .filter(({ principal }) => principal === 'agent')
    .flatMap((session) => gaugesOf(session, nowMs))
    .toSorted((a, b) => b.used - a.used)
    .slice(0, most);
  if (gauges.length === 0) {
    return (
      <p className="muted">
        No agent has a budget or an end. <a href={linkTo('sessions')}>Sessions</a> can have both.
      </p>
    );
  }
  return (
    <ul className="gauges">
      {gauges.map((gauge, at) => (
        <li key={at}>
          <a href={linkTo('sessions', gauge.sessionId)} data-row-link>
            <strong>
              <Visible text={gauge.agent} />
            </strong>{' '}
            <span className="muted">{gauge.text}</span>
            <GaugeBar gauge={gauge} />
          </a>
        </li>
      ))}
    </ul>
  );
}

export function GaugeBar({ gauge: { used, text, state } }: { readonly gauge: Gauge }) {
  return (
    <span className={`gauge gauge-${state}`} role="img" aria-label={`${text}: ${Math.round(used * 100)} % used`}>
      <span style={{ width: `${used * 100}%` }} />
    </span>
  );
}
