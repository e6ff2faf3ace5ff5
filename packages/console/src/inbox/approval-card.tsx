import { approvalFacts } from '@sallyport/contract/facts-of';
import type { Approval } from '../daemon/messages.ts';
import { useNowMs } from '../live/use-live.ts';
import { Fact, RiskBadge } from '../shell/parts.tsx';
import { linkTo } from '../shell/use-route.ts';
import { formatLeft, prettyJson } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';
import { EffectView, MarkedText } from './effect-view.tsx';
import type { MaskedPlace, RevealedParts } from './use-revealed.ts';

export interface ApprovalCardProps {
  readonly approval: Approval;
  readonly places: readonly MaskedPlace[];
  readonly revealed: RevealedParts;
}

/** One call that waits: who wants what, why it asks, and exactly what would happen. */
export function ApprovalCard({ approval, places, revealed }: ApprovalCardProps) {
  const { agent, tool, risk, title, effect, ruleId, reason, expiresAtMs, wanted, approverRole } = approval;
  return (
    <>
      <header className="card-head">
        <p className="card-who">
          <strong>
            <Visible text={agent} />
          </strong>{' '}
          wants to call <code>{tool}</code>
          <Countdown expiresAtMs={Number(expiresAtMs)} />
        </p>
        <h2 tabIndex={-1}>
          <MarkedText id="title" text={title} places={places} revealed={revealed} />
        </h2>
        <p className="card-badges">
          <RiskBadge risk={risk} />
          {wanted > 1 && (
            <span className="badge badge-many">
              asked {wanted} times: approves {wanted} runs
            </span>
          )}
          {approverRole === 'director' && <span className="badge">for a director</span>}
        </p>
      </header>
      <EffectView effect={effect} label="What would happen" places={places} revealed={revealed} />
      <dl className="facts">
        <div className="fact">
          <dt>Why it asks</dt>
          <dd>
            <Visible text={reason || 'The rule gives no reason.'} /> <span className="muted">rule {ruleId}</span>
          </dd>
        </div>
        {approvalFacts(approval).map(([name, fact]) => (
          <Fact key={name} name={name.charAt(0).toUpperCase() + name.slice(1)}>
            <Visible text={fact} />
          </Fact>
        ))}
        <div className="fact">
          <dt>Call</dt>
          <dd>
            <a href={linkTo('calls', approval.callId)}>{approval.callId}</a>
          </dd>
        </div>
      </dl>
      {approval.argumentsJson !== '' && (
        <details className="arguments">
          <summary>Arguments</summary>
          <pre className="json" tabIndex={0} aria-label="Arguments">
            <Visible text={prettyJson(approval.argumentsJson)} />
          </pre>
        </details>
      )}
    </>
  );
}

export function Countdown({ expiresAtMs }: { readonly expiresAtMs: number }) {
  const leftMs = expiresAtMs - useNowMs();
  const isSoon = leftMs < 60_000;
  return (
    <span className={`countdown${isSoon ? ' countdown-soon' : ''}`} title="Without an answer it is denied by then">
      {leftMs <= 0 ? 'time is over' : `${formatLeft(leftMs)} left`}
    </span>
  );
}
