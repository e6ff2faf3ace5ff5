import { useMemo } from 'react';
import type { MaskedSecret } from '../daemon/messages.ts';
import { Visible } from '../text/visible.tsx';
import { readRows, splitMarks } from './effect-rows.ts';
import { MaskedPart } from './masked-part.tsx';
import { RevealDialog } from './reveal-dialog.tsx';
import type { RevealTarget } from './reveal-dialog.tsx';
import { useRevealed } from './use-revealed.ts';

export interface EffectViewProps {
  readonly effect: string;
  readonly label: string;
  readonly masked: readonly MaskedSecret[];
  /** What the marks belong to. */
  readonly target: RevealTarget;
}

/** The exact effect: every character of it but secrets, wrapped and never cut off. */
export function EffectView({ effect, label, masked, target }: EffectViewProps) {
  const marks = useMemo(() => masked.map(({ mark }) => mark), [masked]);
  const rows = useMemo(() => readRows(effect, marks), [effect, marks]);
  const { values, asked, ask, show, hide } = useRevealed();
  if (effect.trim() === '') return <p className="muted">The tool says no more about what it would do.</p>;
  return (
    <>
      <div className="effect" role="group" aria-label={label}>
        {rows.map(({ kind, text, line, isContinued }, at) => (
          <div key={at} data-row={line} className={`row row-${kind}${isContinued ? ' row-continued' : ''}`}>
            <span className="row-number" aria-hidden="true">
              {isContinued ? '↳' : line}
            </span>
            <code>
              {splitMarks(text, marks).map((piece, part) => {
                const secret = masked.find(({ mark }) => mark === piece);
                if (secret === undefined) return <Visible key={part} text={piece} />;
                const value = values.get(secret.number);
                return <MaskedPart key={part} secret={secret} value={value} onAsk={ask} onHide={hide} />;
              })}
            </code>
          </div>
        ))}
      </div>
      {asked && <RevealDialog secret={asked} target={target} onClose={show} />}
    </>
  );
}

export function countRows(effect: string, masked: readonly MaskedSecret[]): number {
  if (effect.trim() === '') return 0;
  return readRows(
    effect,
    masked.map(({ mark }) => mark),
  ).length;
}
