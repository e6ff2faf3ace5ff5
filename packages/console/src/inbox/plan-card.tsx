import { useMemo } from 'react';
import type { Plan } from '../daemon/messages.ts';
import { formatCount } from '../text/format.ts';
import { RiskBadge } from '../shell/parts.tsx';
import { Visible } from '../text/visible.tsx';
import { Countdown } from './approval-card.tsx';
import { EffectView, MarkedText } from './effect-view.tsx';
import type { MaskedPlace, RevealedParts } from './use-revealed.ts';

export interface PlanCardProps {
  readonly plan: Plan;
  readonly places: readonly MaskedPlace[];
  readonly revealed: RevealedParts;
  /** Indexes of the steps that would be approved. */
  readonly chosen: ReadonlySet<number>;
  readonly onChoose: (step: number, isChosen: boolean) => void;
}

const noPlaces: readonly MaskedPlace[] = [];

/** A plan, whole. Each step can be left out; those that stay run in this order. */
export function PlanCard({ plan, places, revealed, chosen, onChoose }: PlanCardProps) {
  const { agent, summary, steps, expiresAtMs } = plan;
  const byStep = useMemo(() => Map.groupBy(places, ({ step }) => step), [places]);
  const ofStep = (at: number): readonly MaskedPlace[] => byStep.get(at) ?? noPlaces;
  return (
    <>
      <header className="card-head">
        <p className="card-who">
          <strong>
            <Visible text={agent} />
          </strong>{' '}
          proposes a plan of {formatCount(steps.length, 'call')}
          <Countdown expiresAtMs={Number(expiresAtMs)} />
        </p>
        <h2 tabIndex={-1}>Plan: {[...new Set(steps.map(({ tool }) => tool))].join(', ')}</h2>
        <AgentSays text={summary} />
      </header>
      <ol className="steps">
        {steps.map(({ tool, title, effect, risk, reason, argumentsJson, refusal }, at) => (
          <li key={at} className={chosen.has(at) ? 'step' : 'step step-left-out'}>
            <label className="step-choice">
              <input
                type="checkbox"
                checked={chosen.has(at)}
                onChange={(event) => onChoose(at, event.target.checked)}
              />
              <span>
                Step {at + 1}: <code>{tool}</code>
              </span>
              <RiskBadge risk={risk} />
            </label>
            <p>
              <MarkedText id={`title of ${at}`} text={title} places={ofStep(at)} revealed={revealed} />
            </p>
            {reason !== '' && <AgentSays text={reason} />}
            {refusal !== '' && (
              <p className="problem">
                <Visible text={refusal} />
              </p>
            )}
            <EffectView
              effect={effect || argumentsJson}
              label={`What step ${at + 1} would do`}
              places={ofStep(at)}
              revealed={revealed}
            />
          </li>
        ))}
      </ol>
    </>
  );
}

/** Nothing of it runs, so that it may be long without pushing away what does. */
function AgentSays({ text }: { readonly text: string }) {
  return (
    <p className="muted agent-says" tabIndex={0}>
      The agent says: “<Visible text={text} />”
    </p>
  );
}
