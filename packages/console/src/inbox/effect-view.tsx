import { Fragment, useMemo } from 'react';
import { Visible } from '../text/visible.tsx';
import { readRows, splitMarks } from './effect-rows.ts';
import type { EffectRow } from './effect-rows.ts';
import { MaskedPart } from './masked-part.tsx';
import type { MaskedPlace, RevealedParts } from './use-revealed.ts';

export interface EffectViewProps {
  readonly effect: string;
  readonly label: string;
  /** What has a mark in it. */
  readonly places: readonly MaskedPlace[];
  readonly revealed: RevealedParts;
}

/** The exact effect: every character of it but secrets, wrapped and never cut off. */
export function EffectView({ effect, label, places, revealed }: EffectViewProps) {
  const rest = places.find(({ secret }) => secret.rest);
  const restValue = rest && revealed.valueOf(rest);
  const rows = useRows(effect, places);
  const restRows = useRows(restValue ?? '', places);
  if (effect.trim() === '') return <p className="muted">The tool says no more about what it would do.</p>;
  const parts = { places, revealed };
  // The mark of the rest is the last line, and gives way to it.
  const shown = restValue === undefined ? rows : rows.slice(0, -1);
  return (
    <div className="effect" role="group" aria-label={label}>
      {shown.map((row, at) => (
        <Row key={at} row={row} {...parts} />
      ))}
      {restRows.map((row, at) => (
        <Row key={`rest ${at}`} row={{ ...row, line: shown.length + row.line }} {...parts} />
      ))}
    </div>
  );
}

function useRows(effect: string, places: readonly MaskedPlace[]): readonly EffectRow[] {
  return useMemo(() => {
    const marks = places.map(({ secret }) => secret.mark);
    return effect === '' ? [] : readRows(effect, marks);
  }, [effect, places]);
}

interface RowProps extends Pick<EffectViewProps, 'places' | 'revealed'> {
  readonly row: EffectRow;
}

function Row({ row: { kind, text, line, isContinued }, places, revealed }: RowProps) {
  return (
    <div data-row={line} className={`row row-${kind}${isContinued ? ' row-continued' : ''}`}>
      <span className="row-number" aria-hidden="true">
        {isContinued ? '↳' : line}
      </span>
      <code>
        <MarkedText text={text} places={places} revealed={revealed} />
      </code>
    </div>
  );
}

/** A text in which each mark can be revealed in its place. */
export function MarkedText({ text, places, revealed }: { readonly text: string } & Omit<RowProps, 'row'>) {
  const marks = places.map(({ secret }) => secret.mark);
  return splitMarks(text, marks).map((piece, part) => {
    const place = places.find(({ secret }) => secret.mark === piece);
    return (
      <Fragment key={part}>
        {place === undefined ? <Visible text={piece} /> : <MaskedPart place={place} revealed={revealed} />}
      </Fragment>
    );
  });
}
