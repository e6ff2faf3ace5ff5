import { Visible } from '../text/visible.tsx';
import { readRows } from './effect-rows.ts';

/** A difference to read, where nothing of it is masked and nobody decides by having seen it. */
export function DiffView({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <div className="effect" role="group" aria-label={label}>
      {readRows(text).map(({ kind, text: piece, fileLine, isContinued }, at) => (
        <div key={at} className={`row row-${kind}`}>
          <span className="row-number" aria-hidden="true">
            {isContinued ? '↳' : fileLine}
          </span>
          <code>
            <Visible text={piece} />
          </code>
        </div>
      ))}
    </div>
  );
}
