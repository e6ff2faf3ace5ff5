import { useMemo } from 'react';
import { Visible } from '../text/visible.tsx';
import { readRows } from './effect-rows.ts';

/** The exact effect: every character of it, wrapped and never cut off. */
export function EffectView({ effect, label }: { readonly effect: string; readonly label: string }) {
  const rows = useMemo(() => readRows(effect), [effect]);
  if (effect.trim() === '') return <p className="muted">The tool says no more about what it would do.</p>;
  return (
    <div className="effect" role="group" aria-label={label}>
      {rows.map(({ kind, text, line, isContinued }, at) => (
        <div key={at} data-row={line} className={`row row-${kind}${isContinued ? ' row-continued' : ''}`}>
          <span className="row-number" aria-hidden="true">
            {isContinued ? '↳' : line}
          </span>
          <code>
            <Visible text={text} />
          </code>
        </div>
      ))}
    </div>
  );
}

export function countRows(effect: string): number {
  return effect.trim() === '' ? 0 : readRows(effect).length;
}
