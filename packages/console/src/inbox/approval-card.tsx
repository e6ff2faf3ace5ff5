import { approvalFacts } from '@sallyport/contract/facts-of';
import type { Approval } from '../daemon/messages.ts';
import { useNowMs } from '../live/use-live.ts';
import { Fact, RiskBadge } from '../shell/parts.tsx';
import { linkTo } from '../shell/use-route.ts';
import { ValuesForm } from '../shell/values-form.tsx';
import { formatLeft, readJson } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';
import { readForm } from './arguments-form.ts';
import { EffectView, MarkedText } from './effect-view.tsx';
import type { MaskedPlace, RevealedParts } from './use-revealed.ts';

export interface ApprovalCardProps {
  readonly approval: Approval;
  /** Identical requests of others. */
  readonly others: readonly Approval[];
  readonly places: readonly MaskedPlace[];
  readonly revealed: RevealedParts;
}

/** One call that waits: who wants what, why it asks, and exactly what would happen. */
export function ApprovalCard({ approval, others, places, revealed }: ApprovalCardProps) {
  const { agent, tool, risk, title, effect, ruleId, reason, expiresAtMs, wanted, approverRole } = approval;
  // What is sent to a server is read as a form.
  const isElsewhere = effect.startsWith('arguments: ');
  const form = readForm(effect, approval.argumentsJson, places.length > 0);
  return (
    <>
      <header className="card-head">
        <p className="card-who">
          <strong>
            <Visible text={agent} />
          </strong>{' '}
          {others.length > 0 && (
            <>
              and{' '}
              <strong>
                <Visible text={others.map((each) => each.agent).join(', ')} />
              </strong>{' '}
              want
            </>
          )}
          {others.length === 0 && 'wants'} to call <code>{tool}</code>
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
          {others.length > 0 && (
            <span className="badge badge-many">{others.length + 1} identical requests: one answer for all of them</span>
          )}
          <span className={`badge badge-${approval.undoable ? 'calm' : 'many'}`}>
            {approval.undoable ? 'can be undone' : 'cannot be undone'}
          </span>
          {approverRole === 'director' && <span className="badge">for a director</span>}
        </p>
      </header>
      {form !== undefined && <ValuesForm value={form.value} label="Arguments" rowId="argument" />}
      {form === undefined && isElsewhere && <Arguments json={approval.argumentsJson} isOpen />}
      <EffectView effect={form?.rest ?? effect} label="What would happen" places={places} revealed={revealed} />
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
      {!isElsewhere && <Arguments json={approval.argumentsJson} />}
    </>
  );
}

/** As a form. */
function Arguments({ json, isOpen = false }: { readonly json: string; readonly isOpen?: boolean }) {
  if (json === '') return null;
  return (
    <details className="arguments" open={isOpen}>
      <summary>Arguments</summary>
      <ValuesForm value={readJson(json)} label="Arguments" />
    </details>
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
