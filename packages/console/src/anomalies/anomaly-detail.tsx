import { useCallback } from 'react';
import { GateError } from '@sallyport/contract/client';
import { daemon } from '../daemon/connect.ts';
import type { Anomaly } from '../daemon/messages.ts';
import { useGate, useValue } from '../live/use-live.ts';
import { Empty, Fact, Loading, Problem } from '../shell/parts.tsx';
import { useGovernedCall } from '../shell/use-governed-call.tsx';
import { useLoaded } from '../shell/use-loaded.ts';
import { linkTo } from '../shell/use-route.ts';
import { formatClock, formatMoment } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';
import { agentOf, tellDone, tellExtent, titleOfAnomaly } from './anomaly-words.ts';

interface AnomalyDetailProps {
  readonly anomalyId: string;
  readonly query: string;
}

/** Null: there is none. */
async function readAnomaly(id: string): Promise<Anomaly | null> {
  try {
    return (await daemon.call('AnomalyService/GetAnomaly', { id })).anomaly ?? null;
  } catch (error) {
    if (error instanceof GateError && ['not_found', 'invalid_argument'].includes(error.code)) return null;
    throw error;
  }
}

/** One anomaly: the calls behind it, what was done, and who has seen it. Alerts link to it. */
export function AnomalyDetail({ anomalyId, query }: AnomalyDetailProps) {
  const { turn } = useValue(useGate().anomalies.view);
  const load = useCallback(() => readAnomaly(anomalyId), [anomalyId]);
  const { value, trouble, reload } = useLoaded(load, turn);
  return (
    <section className="detail" aria-label="Anomaly">
      <a className="close" href={linkTo('anomalies', '', query)}>
        ← All anomalies
      </a>
      {trouble && <Problem trouble={trouble} onRetry={reload} />}
      {value === undefined && trouble === undefined && <Loading what="the anomaly" />}
      {value === null && (
        <Empty title="There is no such anomaly">
          <p>
            Nothing is known about <Visible text={anomalyId} />.
          </p>
        </Empty>
      )}
      {value && <Told anomaly={value} onSeen={reload} />}
    </section>
  );
}

function Told({ anomaly, onSeen }: { readonly anomaly: Anomaly; readonly onSeen: () => void }) {
  const { run, dialog, trouble } = useGovernedCall();
  const { id, summary, beganAtMs, sessionId, seenBy, seenAtMs, agent } = anomaly;
  return (
    <>
      {dialog}
      <h2>
        <Visible text={agentOf(anomaly)} />: <Visible text={titleOfAnomaly(anomaly)} />
      </h2>
      <p>
        <Visible text={summary} />
      </p>
      {trouble && <Problem trouble={trouble} />}
      {seenBy === '' && (
        <div className="form-actions">
          <button
            type="button"
            className="primary"
            onClick={() => void run('anomalies.acknowledge', { anomaly_id: id }).then(onSeen)}
          >
            I have seen it
          </button>
        </div>
      )}
      <dl className="facts">
        <Fact name="done">
          <Visible text={tellDone(anomaly)} />
        </Fact>
        <Fact name="seen by">
          {seenBy === '' ? 'nobody yet' : <Visible text={`${seenBy}, ${formatMoment(Number(seenAtMs))}`} />}
        </Fact>
        <Fact name="began">{formatMoment(Number(beganAtMs))}</Fact>
        <Fact name="met by">{tellExtent(anomaly)}</Fact>
        {agent !== '' && (
          <Fact name="agent">
            <a href={linkTo('calls', '', `agent:${agent} since:24h`)}>its calls of the last day</a>
          </Fact>
        )}
        {sessionId !== '' && (
          <Fact name="session">
            <a href={linkTo('calls', '', `session:${sessionId}`)}>
              <code>{sessionId}</code>
            </a>
          </Fact>
        )}
        <Fact name="anomaly">
          <code>{id}</code>
        </Fact>
      </dl>
      <CallsBehind calls={anomaly.calls} />
    </>
  );
}

function CallsBehind({ calls }: Pick<Anomaly, 'calls'>) {
  if (calls.length === 0)
    return <p className="muted">No call of it can be shown: nobody with a credential made them.</p>;
  return (
    <>
      <h3>The last calls when it began</h3>
      <ul className="rows" aria-label="Calls behind it">
        {calls.map(({ callId, tool, result, endedAtMs }) => (
          <li key={callId}>
            <a className="line" href={linkTo('calls', callId)} data-row-link>
              <time className="muted">{formatClock(Number(endedAtMs))}</time>
              <span className="line-main">
                <code>
                  <Visible text={tool} />
                </code>
              </span>
              <span className={`line-end badge badge-${result === 'ok' ? 'ok' : 'denied'}`}>
                <Visible text={result} />
              </span>
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}
