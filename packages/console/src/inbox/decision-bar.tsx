import { useState } from 'react';
import type { FormEvent, ReactNode } from 'react';
import type { MaskedPlace } from './use-revealed.ts';
import { formatCount } from '../text/format.ts';
import { criticalWord, decisionKeys, explainUnavailable, isApproving } from './decision.ts';
import type { Decision, DecisionKind } from './decision.ts';

export interface DecisionBarProps {
  readonly risk: string;
  /** What can be answered here. */
  readonly kinds: readonly DecisionKind[];
  readonly labels?: Partial<Readonly<Record<DecisionKind, string>>>;
  /** False: keys and buttons do nothing yet. */
  readonly isArmed: boolean;
  readonly unseenCount: number;
  readonly showUnseen: () => void;
  /** What is masked and has to be shown before anything can be approved. */
  readonly masked: readonly MaskedPlace[];
  readonly onReveal: (place: MaskedPlace) => void;
  /** Masked parts that were not in view yet as a whole, revealed or not. */
  readonly unshownCount: number;
  /** Why nothing can be approved. Absent: it can. */
  readonly hold?: string | undefined;
  /** The answer that is being worded. Undefined: none is. */
  readonly wording: DecisionKind | undefined;
  readonly onChoose: (kind: DecisionKind) => void;
  readonly onDecide: (decision: Decision) => void;
  readonly onCancel: () => void;
}

const defaultLabels: Readonly<Record<DecisionKind, string>> = {
  once: 'Approve once',
  session: 'For the session',
  minutes: 'For minutes…',
  always: 'Always…',
  changes: 'Request changes…',
  deny: 'Deny',
};

const keyOf = (kind: DecisionKind): string => Object.keys(decisionKeys).find((key) => decisionKeys[key] === kind) ?? '';

/** Where a person answers. Approving takes having seen everything; saying no does not. */
export function DecisionBar(props: DecisionBarProps) {
  const { risk, kinds, labels, isArmed, unseenCount, showUnseen, masked, onReveal, unshownCount } = props;
  const { hold, wording, onChoose } = props;
  const [nextMasked] = masked;
  if (wording !== undefined) return <Wording {...props} kind={wording} />;
  const reason = (kind: DecisionKind): string | undefined => {
    if (isApproving(kind) && hold !== undefined) return hold;
    if (isApproving(kind) && unseenCount > 0) return 'Part of the effect has not been in view yet.';
    if (isApproving(kind) && unshownCount > 0) return 'Part of the effect is masked and was not shown yet.';
    return explainUnavailable(kind, risk);
  };
  return (
    <div className="decision-bar">
      {unseenCount > 0 && (
        <p className="unseen" role="status">
          <span>{formatCount(unseenCount, 'line')} not seen yet. Look at the whole effect to approve it.</span>
          <button type="button" onClick={showUnseen}>
            Show the next part <kbd>space</kbd>
          </button>
        </p>
      )}
      {nextMasked !== undefined && hold === undefined && (
        <p className="unseen" role="status">
          <span>
            {nextMasked.secret.rest
              ? 'The effect goes on. Look at the rest to approve it.'
              : `${formatCount(masked.length, 'masked part')} not shown yet, and could be anything. Reveal to approve.`}
          </span>
          <button type="button" onClick={() => onReveal(nextMasked)}>
            {nextMasked.secret.rest ? 'Show the rest' : 'Reveal'}
          </button>
        </p>
      )}
      <div className="decisions" data-armed={isArmed}>
        {kinds.map((kind) => {
          const unavailable = reason(kind);
          return (
            <button
              key={kind}
              type="button"
              className={`decide decide-${kind}`}
              aria-disabled={unavailable !== undefined || !isArmed}
              aria-keyshortcuts={keyOf(kind)}
              title={unavailable}
              onClick={() => onChoose(kind)}
            >
              {labels?.[kind] ?? defaultLabels[kind]} <kbd>{keyOf(kind)}</kbd>
            </button>
          );
        })}
      </div>
    </div>
  );
}

/** The answers that take a word, a number or a sentence. */
function Wording({ kind, risk, labels, onDecide, onCancel }: DecisionBarProps & { readonly kind: DecisionKind }) {
  switch (kind) {
    case 'minutes':
      return <MinutesForm isHigh={risk === 'high'} onDecide={onDecide} onCancel={onCancel} />;
    case 'changes':
      return <ChangesForm onDecide={onDecide} onCancel={onCancel} />;
    default:
      return <WordForm submit={labels?.once ?? defaultLabels.once} onDecide={onDecide} onCancel={onCancel} />;
  }
}

type FormProps = Pick<DecisionBarProps, 'onDecide' | 'onCancel'>;

function MinutesForm({ isHigh, onDecide, onCancel }: FormProps & { readonly isHigh: boolean }) {
  const [minutes, setMinutes] = useState(isHigh ? 5 : 15);
  const [uses, setUses] = useState(isHigh ? 5 : 0);
  return (
    <AnswerForm submit="Approve" onCancel={onCancel} onSubmit={() => onDecide({ kind: 'minutes', minutes, uses })}>
      <p>Also approves further calls of this tool by this session, as long as they touch exactly the same things.</p>
      <label>
        Minutes
        <select autoFocus value={minutes} onChange={(event) => setMinutes(Number(event.target.value))}>
          {(isHigh ? [2, 5, 15] : [5, 15, 60, 240]).map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
      <label>
        Calls
        <select value={uses} onChange={(event) => setUses(Number(event.target.value))}>
          {!isHigh && <option value={0}>any number</option>}
          {[1, 5, 20].map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
    </AnswerForm>
  );
}

function ChangesForm({ onDecide, onCancel }: FormProps) {
  const [note, setNote] = useState('');
  return (
    <AnswerForm
      submit="Deny and send"
      isReady={note.trim() !== ''}
      onCancel={onCancel}
      onSubmit={() => onDecide({ kind: 'changes', note: note.trim() })}
    >
      <label className="wide">
        What should the agent do instead?
        <textarea
          autoFocus
          rows={3}
          maxLength={2000}
          value={note}
          onChange={(event) => setNote(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
          }}
        />
      </label>
    </AnswerForm>
  );
}

function WordForm({ submit, onDecide, onCancel }: FormProps & { readonly submit: string }) {
  const [word, setWord] = useState('');
  return (
    <AnswerForm
      submit={submit}
      isReady={word.trim().toLowerCase() === criticalWord}
      onCancel={onCancel}
      onSubmit={() => onDecide({ kind: 'once' })}
    >
      <label className="wide">
        <span>
          This is of critical risk. Type <strong>{criticalWord}</strong> to approve it.
        </span>
        <input
          autoFocus
          type="text"
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          value={word}
          onChange={(event) => setWord(event.target.value)}
        />
      </label>
    </AnswerForm>
  );
}

interface AnswerFormProps {
  readonly submit: string;
  readonly isReady?: boolean;
  readonly onSubmit: () => void;
  readonly onCancel: () => void;
  readonly children: ReactNode;
}

function AnswerForm({ submit, isReady = true, onSubmit, onCancel, children }: AnswerFormProps) {
  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (isReady) onSubmit();
  };
  return (
    <form
      className="decision-bar answer-form"
      onSubmit={send}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onCancel();
      }}
    >
      {children}
      <div className="form-actions">
        <button type="submit" className="primary" aria-disabled={!isReady}>
          {submit}
        </button>
        <button type="button" onClick={onCancel}>
          Back <kbd>esc</kbd>
        </button>
      </div>
    </form>
  );
}
