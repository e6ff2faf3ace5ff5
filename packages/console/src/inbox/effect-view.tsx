import { useMemo } from 'react';
import { Visible } from '../text/visible.tsx';
import { openRow, readRows } from './effect-rows.ts';
import type { EffectRow, RowPart } from './effect-rows.ts';
import { MaskedPart, RevealedPart } from './masked-part.tsx';
import type { MaskedPlace, RevealedParts } from './use-revealed.ts';

export interface EffectViewProps {
  readonly effect: string;
  /** Another one for each effect of a card. */
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
        <Row key={at} id={`${label} ${at}`} row={row} {...parts} />
      ))}
      {restRows.map((row, at) => (
        <Row key={`rest ${at}`} id={`${label} rest ${at}`} row={moved(row, shown.length)} {...parts} />
      ))}
    </div>
  );
}

function moved(row: EffectRow, by: number): EffectRow {
  return row.line === undefined ? row : { ...row, line: by + row.line };
}

function useRows(effect: string, places: readonly MaskedPlace[]): readonly EffectRow[] {
  return useMemo(() => {
    const marks = places.map(({ secret }) => secret.mark);
    return effect === '' ? [] : readRows(effect, marks);
  }, [effect, places]);
}

interface RowProps extends Pick<EffectViewProps, 'places' | 'revealed'> {
  /** Its name, among all rows of the card. */
  readonly id: string;
  readonly row: EffectRow;
}

function Row({ id, row: { kind, text, line, isContinued, fileLine, differs }, places, revealed }: RowProps) {
  const number = fileLine ?? line;
  return openMarks(text, places, revealed).map((parts, at) => {
    const isMore = isContinued || at > 0;
    return (
      <div
        key={rowKey(parts, at)}
        data-row={`${id}${rowKey(parts, at)}`}
        className={`row row-${kind}${isMore ? ' row-continued' : ''}`}
      >
        <span className="row-number" aria-hidden="true">
          {isMore ? '↳' : number}
        </span>
        <code>
          {differs !== undefined && parts.length === 1 && parts[0]?.mark === undefined ? (
            <Differing text={text} differs={differs} />
          ) : (
            <Parts id={id} parts={parts} places={places} revealed={revealed} />
          )}
        </code>
      </div>
    );
  });
}

/** A changed line, with what changed in it. */
function Differing({
  text,
  differs: [from, to],
}: {
  readonly text: string;
  readonly differs: readonly [number, number];
}) {
  return (
    <>
      <Visible text={text.slice(0, from)} />
      {to > from && (
        <mark>
          <Visible text={text.slice(from, to)} />
        </mark>
      )}
      <Visible text={text.slice(Math.max(from, to))} />
    </>
  );
}

/** A line of prose, such as a title, in which each mark can be revealed in its place. It has to be seen like the rows. */
export function MarkedText({ id, text, places, revealed }: { readonly text: string } & Omit<RowProps, 'row'>) {
  return useRows(text, places).map((row, at) =>
    openMarks(row.text, places, revealed).map((parts, part) => (
      <span key={`${at}${rowKey(parts, part)}`} data-row={`${id} ${at}${rowKey(parts, part)}`}>
        <Parts id={`${id} ${at}`} parts={parts} places={places} revealed={revealed} />
      </span>
    )),
  );
}

function openMarks(text: string, places: readonly MaskedPlace[], revealed: RevealedParts) {
  const valueOf = (mark: string): string | undefined => {
    const place = places.find(({ secret }) => secret.mark === mark);
    return place && !place.secret.rest ? revealed.valueOf(place) : undefined;
  };
  return openRow(
    text,
    places.map(({ secret }) => secret.mark),
    valueOf,
  );
}

/** With something revealed in it, it is another row, which was not seen yet. */
function rowKey(parts: readonly RowPart[], at: number): string {
  const shown = parts.filter(({ isRevealed }) => isRevealed).map(({ mark }) => mark);
  return shown.length === 0 && at === 0 ? '' : ` ${at} ${[...new Set(shown)].join(' ')}`;
}

interface PartsProps extends Pick<EffectViewProps, 'places' | 'revealed'> {
  readonly id: string;
  readonly parts: readonly RowPart[];
}

function Parts({ id, parts, places, revealed }: PartsProps) {
  return parts.map(({ text, mark, isRevealed, goesOn = false }, at) => {
    const place = mark === undefined ? undefined : places.find(({ secret }) => secret.mark === mark);
    if (place === undefined) return <Visible key={at} text={text} />;
    if (!isRevealed) return <MaskedPart key={at} place={place} revealed={revealed} />;
    return <RevealedPart key={at} {...{ text, goesOn, place, revealed }} copy={id} />;
  });
}
